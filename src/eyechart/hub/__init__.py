"""Downloads: parts of published collections, from a hub, its mirror, or a copy on disk."""
