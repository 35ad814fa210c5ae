"""The models: what their config.json says, each with its source.

Long because of the table: a row for each model.
"""

from sim.specs.attention import FULL, Attention, Latent, State, Window
from sim.specs.model import Model
from sim.specs.storage import FP8, MXFP4

_LLAMA2 = "Touvron et al. 2023, Llama 2, and the model's config.json"
_LLAMA3 = "Llama Team 2024, The Llama 3 Herd of Models, table 3, and config.json"
_LLAMA32 = "the model card of Llama 3.2, and config.json"
_QWEN25 = "Qwen2.5 technical report, table 1, and config.json"
_QWEN3 = "Qwen3 technical report, tables 1 and 2, and config.json"
_GPT_OSS = "OpenAI 2025, gpt-oss model card, table 1, and config.json"

# Gated DeltaNet of Qwen3-Next: 32 value heads and 16 query and key heads of 128 numbers, each value
# head with a matrix of 128 x 128, and the last 3 inputs of a convolution over 8,192 channels.
_DELTA_IN, _DELTA_OUT, _DELTA_CHANNELS = 12_288 + 64, 4_096, 8_192
_DELTA = State(
    size=32 * 128 * 128 + 3 * _DELTA_CHANNELS,
    weights=2_048 * (_DELTA_IN + _DELTA_OUT) + 4 * _DELTA_CHANNELS,
)

MODELS: dict[str, Model] = {
    model.name: model
    for model in (
        #     name             L  hidden   q  kv    d    ffn   vocab
        Model("Llama-2-7B", 32, 4096, 32, 32, 128, 11008, 32000, _LLAMA2),
        Model("Llama-2-13B", 40, 5120, 40, 40, 128, 13824, 32000, _LLAMA2),
        Model("Llama-2-70B", 80, 8192, 64, 8, 128, 28672, 32000, _LLAMA2),
        Model("Llama-3.1-8B", 32, 4096, 32, 8, 128, 14336, 128256, _LLAMA3),
        Model("Llama-3.1-70B", 80, 8192, 64, 8, 128, 28672, 128256, _LLAMA3),
        Model("Llama-3.1-405B", 126, 16384, 128, 8, 128, 53248, 128256, _LLAMA3),
        Model(
            "Llama-3.2-1B",
            *(16, 2048, 32, 8, 64, 8192, 128256),
            _LLAMA32,
            tied_embedding=True,
        ),
        Model("Mistral-7B", 32, 4096, 32, 8, 128, 14336, 32000, "Jiang et al. 2023, table 1"),
        Model(
            "Mistral-Small-24B",
            *(40, 5120, 32, 8, 128, 32768, 131072),
            "Mistral AI 2025, model card of Mistral-Small-24B-2501, and config.json",
        ),
        Model("Qwen2.5-7B", 28, 3584, 28, 4, 128, 18944, 152064, _QWEN25),
        Model("Qwen2.5-14B", 48, 5120, 40, 8, 128, 13824, 152064, _QWEN25),
        Model("Qwen3-0.6B", 28, 1024, 16, 8, 128, 3072, 151936, _QWEN3, tied_embedding=True),
        Model("Qwen3-1.7B", 28, 2048, 16, 8, 128, 6144, 151936, _QWEN3, tied_embedding=True),
        Model("Qwen3-4B", 36, 2560, 32, 8, 128, 9728, 151936, _QWEN3, tied_embedding=True),
        Model("Qwen3-8B", 36, 4096, 32, 8, 128, 12288, 151936, _QWEN3),
        Model("Qwen3-14B", 40, 5120, 40, 8, 128, 17408, 151936, _QWEN3),
        Model("Qwen3-32B", 64, 5120, 64, 8, 128, 25600, 151936, _QWEN3),
        Model(
            "Qwen3-30B-A3B",
            *(48, 2048, 32, 4, 128, 768, 151936),
            _QWEN3,
            experts=128,
            active_experts=8,
        ),
        Model(
            "Qwen3-235B-A22B",
            *(94, 4096, 64, 4, 128, 1536, 151936),
            _QWEN3,
            experts=128,
            active_experts=8,
        ),
        Model(
            "Qwen3-Next-80B-A3B",
            *(48, 2048, 16, 2, 256, 512, 151936),
            "Qwen 2025, model card of Qwen3-Next-80B-A3B, and config.json",
            experts=512,
            active_experts=10,
            shared_experts=1,
            pattern=(_DELTA, _DELTA, _DELTA, Attention(gated=True)),
        ),
        Model(
            "Mixtral-8x7B",
            *(32, 4096, 32, 8, 128, 14336, 32000),
            "Jiang et al. 2024, Mixtral of Experts, table 1",
            experts=8,
            active_experts=2,
        ),
        Model(
            "DeepSeek-V3",
            *(61, 7168, 128, 128, 128, 2048, 129280),
            "DeepSeek-AI 2024, DeepSeek-V3, section 4.2, and config.json",
            experts=256,
            active_experts=8,
            weights=FP8,
            pattern=(Latent(),),
            shared_experts=1,
            dense_layers=3,
            dense_ffn=18432,
        ),
        Model(
            "gpt-oss-20b",
            *(24, 2880, 64, 8, 64, 2880, 201088),
            _GPT_OSS,
            experts=32,
            active_experts=4,
            weights=MXFP4,
            pattern=(Window(size=128), FULL),
        ),
        Model(
            "gpt-oss-120b",
            *(36, 2880, 64, 8, 64, 2880, 201088),
            _GPT_OSS,
            experts=128,
            active_experts=4,
            weights=MXFP4,
            pattern=(Window(size=128), FULL),
        ),
        Model(
            "Gemma-3-27B",
            *(62, 5376, 32, 16, 128, 21504, 262208),
            "Gemma Team 2025, Gemma 3, table 1 (417 M of vision encoder), and config.json",
            tied_embedding=True,
            pattern=(*(Window(size=1024),) * 5, FULL),
            other_parameters=423_000_000,
        ),
        Model(
            "OPT-13B",
            *(40, 5120, 40, 40, 128, 20480, 50272),
            "Zhang et al. 2022, table 1, and config.json",
            ffn_matrices=2,
            tied_embedding=True,
        ),
    )
}
