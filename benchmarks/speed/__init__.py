"""How long does scoring take, beside what else could be done with the same text?"""
