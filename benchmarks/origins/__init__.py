"""Origins that we did not write: servers from a distribution's packages, with pages made from text at hand."""
