"""Other ways to judge sufficiency, behind the same seam, one file each with its source."""
