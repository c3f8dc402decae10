"""What a model server tells of pictures by itself: tokens, grids, and so its caps."""
