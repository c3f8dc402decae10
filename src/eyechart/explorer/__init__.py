"""Looking at runs: a local web application and the same screens as plain files."""
