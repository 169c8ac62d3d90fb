"""The loop: question in, answer or honest abstention out."""
