"""Find out what an endpoint does to pictures from the tokens that it reports for pictures of many sizes."""
