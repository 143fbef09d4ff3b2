"""Who answers: models on this machine, models behind an API, recorded answers.

How a model gets onto the machine is told in `resolve`: a name, folder, GGUF file or Hugging Face id goes in,
a folder with `config.json`, safetensors weights and a tokenizer comes out.
"""
