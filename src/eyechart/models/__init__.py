"""Models: whatever answers a question. A model is named ``provider/name``; the provider is a module of this room."""
