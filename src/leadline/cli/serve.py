"""`leadline serve`: a model with a technique, for any harness that speaks OpenAI's API."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def serve(
    model: Annotated[str, typer.Option(help="A model's name, folder, .gguf file or org/name.")] = "smollm2",
    technique: Annotated[
        str | None, typer.Option(help="NAME or NAME:key=value,...; none: the model as it is.")
    ] = None,
    settings: Annotated[
        list[str] | None,
        typer.Option("--set", help="A setting of the technique, key=value; may be given several times."),
    ] = None,
    benchmark: Annotated[
        str, typer.Option(help="What a technique is fitted on, where it is fitted.")
    ] = "facts",
    prompt: Annotated[
        str, typer.Option(help="Prompts of techniques that put the question themselves: few-shot or chat.")
    ] = "few-shot",
    name: Annotated[
        str | None, typer.Option(help="What clients call it.  [default: the model's name+technique]")
    ] = None,
    host: Annotated[
        str, typer.Option(help="Address to listen on; others than loopback's need a token.")
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="0 takes one that is free.")] = 8080,
    token_env: Annotated[
        str, typer.Option(help="Environment variable with the token that clients must show.")
    ] = "LEADLINE_TOKEN",
    ssl_certfile: Annotated[
        Path | None, typer.Option(help="Serve over TLS (https) with this certificate chain, a PEM file.")
    ] = None,
    ssl_keyfile: Annotated[
        Path | None, typer.Option(help="Its private key, a PEM file, where it is not in the chain's.")
    ] = None,
    max_batch: Annotated[int, typer.Option(min=1, max=4096, help="Answers that are drawn at once.")] = 64,
    max_waiting: Annotated[
        int,
        typer.Option(min=1, max=100_000, help="Requests that may wait; further ones are told to come back."),
    ] = 256,
    max_tokens: Annotated[
        int, typer.Option(min=1, help="Longest chat answer, in tokens, where a client does not say.")
    ] = 512,
    dtype: Annotated[str, typer.Option(help="float32, bfloat16 or float16.")] = "float32",
    device: Annotated[str, typer.Option(help="auto, cpu, cuda or cuda:N.")] = "auto",
    json_log: Annotated[
        bool, typer.Option("--json-log", help="Log requests to standard error as JSON lines.")
    ] = False,
    log_prompts: Annotated[
        bool, typer.Option("--log-prompts", help="Log what is asked and answered, too.")
    ] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Log no requests.")] = False,
) -> None:
    """Serve a model, with a technique if you like, behind an OpenAI-compatible API.

    Prints its URL on standard output when it is ready, and how to point other tools at it on standard error.
    Requests that come together are answered together. Stop it with Ctrl-C.
    """
    from leadline.errors import UsageError

    try:
        from leadline.serving.start import Wanted, start
    except ImportError as error:
        if error.name not in ("starlette", "uvicorn"):
            raise
        raise UsageError(
            f"serving needs the extra 'serve' ({error.name} is missing)", fix="pip install 'leadline[serve]'"
        ) from error
    wanted = Wanted(
        model=model,
        technique=technique,
        settings=tuple(settings or ()),
        benchmark=benchmark,
        prompt=prompt,
        name=name,
        host=host,
        port=port,
        token_variable=token_env,
        max_batch=max_batch,
        max_waiting=max_waiting,
        max_tokens=max_tokens,
        dtype=dtype,
        device=device,
        ssl_certfile=ssl_certfile,
        ssl_keyfile=ssl_keyfile,
    )
    start(wanted, json_log=json_log, log_prompts=log_prompts, quiet=quiet)
