"""`python -m benchmarks retrieval`: is all the support found, by one call and by a search that hops?"""
