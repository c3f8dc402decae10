"""What a model receives of a picture after hidden resizing."""
