"""The models, each in one file: GPT, BERT, ViT, MAE and the translator of 2017, built from the same blocks."""
