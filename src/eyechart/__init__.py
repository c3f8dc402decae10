"""eyechart: an eye test for vision-language models."""
