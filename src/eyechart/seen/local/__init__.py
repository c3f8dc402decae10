"""What a model on this machine sees: its real processor, run on pictures that are shapes without pixels."""
