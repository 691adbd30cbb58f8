"""What type checkers and editors see of the models, which are imported when they are asked for."""

from clearformer.models.bert import BERT as BERT
from clearformer.models.bert import BERTConfig as BERTConfig
from clearformer.models.gpt import GPT as GPT
from clearformer.models.gpt import GPTConfig as GPTConfig
from clearformer.models.gpt import next_token_loss as next_token_loss
from clearformer.models.mae import MAE as MAE
from clearformer.models.mae import MAEConfig as MAEConfig
from clearformer.models.seq2seq import Seq2Seq as Seq2Seq
from clearformer.models.seq2seq import Seq2SeqConfig as Seq2SeqConfig
from clearformer.models.vit import ViT as ViT
from clearformer.models.vit import ViTConfig as ViTConfig
