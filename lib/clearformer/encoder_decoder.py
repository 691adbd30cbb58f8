"""An encoder and a decoder joined: the decoder looks at what the encoder made of a source."""

from jaxtyping import Bool, Float
from torch import Tensor, nn

from clearformer.blocks import Decoder, Encoder
from clearformer.shapes import shaped_module


class EncoderDecoder(nn.Module):
    """A decoder that looks at what an encoder made of the source; both get embedded tokens.

    Source: Vaswani et al. 2017, figure 1.
    """

    def __init__(self, encoder: Encoder, decoder: Decoder):
        super().__init__()
        self.encoder, self.decoder = encoder, decoder

    @shaped_module
    def forward(
        self,
        source: Float[Tensor, "B S D"],
        target: Float[Tensor, "B N D"],
        source_mask: Bool[Tensor, "*#batch #1 #S"] | None = None,
        target_mask: Bool[Tensor, "*#batch2 #N #N"] | None = None,
    ) -> Float[Tensor, "B N D"]:
        """``source_mask`` hides padding from the encoder and from the cross-attention alike."""
        memory = self.encoder(source, source_mask)
        return self.decoder(target, target_mask, source=memory, source_mask=source_mask)
