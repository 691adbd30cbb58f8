"""What type checkers and editors see of the names that are imported when they are asked for."""

from clearformer.cache import KVCache as KVCache
from clearformer.chat import ChatTemplate as ChatTemplate
from clearformer.chat import load_chat_template as load_chat_template
from clearformer.generation import beam_search as beam_search
from clearformer.generation import generate as generate
from clearformer.generation import prepare_for_generation as prepare_for_generation
from clearformer.generation import stream_tokens as stream_tokens
from clearformer.lora import add_lora as add_lora
from clearformer.lora import merge_lora as merge_lora
from clearformer.losses import next_token_loss as next_token_loss
from clearformer.models.bert import BERT as BERT
from clearformer.models.bert import BERTConfig as BERTConfig
from clearformer.models.gpt import GPT as GPT
from clearformer.models.gpt import GPTConfig as GPTConfig
from clearformer.models.mae import MAE as MAE
from clearformer.models.mae import MAEConfig as MAEConfig
from clearformer.models.seq2seq import Seq2Seq as Seq2Seq
from clearformer.models.seq2seq import Seq2SeqConfig as Seq2SeqConfig
from clearformer.models.vit import ViT as ViT
from clearformer.models.vit import ViTConfig as ViTConfig
from clearformer.multihead import MultiHeadAttention as MultiHeadAttention
from clearformer.pretrained import from_pretrained as from_pretrained
from clearformer.pretrained import load_lora as load_lora
from clearformer.pretrained import load_tokenizer as load_tokenizer
from clearformer.pretrained import save_lora as save_lora
from clearformer.pretrained import save_pretrained as save_pretrained
from clearformer.pretrained import save_tokenizer as save_tokenizer
from clearformer.tokenizers import BytePairTokenizer as BytePairTokenizer
from clearformer.tokenizers import ByteTokenizer as ByteTokenizer
from clearformer.tokenizers import CharTokenizer as CharTokenizer
from clearformer.training import TrainConfig as TrainConfig
from clearformer.training import train as train

__version__: str
