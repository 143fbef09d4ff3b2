"""What docs/scale.md tells people to submit is at least well-formed, and names what there is."""

from __future__ import annotations

import re
import shlex
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from leadline.study.config import StudyConfig

PAGE = (Path(__file__).parents[1] / "docs" / "scale.md").read_text("utf-8")


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", PAGE, flags=re.MULTILINE | re.DOTALL)


def test_the_script_for_slurm_is_a_shell_script_and_the_python_in_it_is_python(tmp_path: Path) -> None:
    (script,) = blocks("bash")
    file = tmp_path / "leadline.sbatch"
    file.write_text(script, "utf-8")
    subprocess.run(["bash", "-n", str(file)], check=True)
    (python,) = re.findall(r"<<'PYTHON'\n(.*?)^PYTHON$", script, flags=re.MULTILINE | re.DOTALL)
    compile(python, "page", "exec")
    assert script.startswith("#!/bin/bash\n#SBATCH ")


def test_the_job_for_kubernetes_is_a_whole_ray_job() -> None:
    job: dict[str, Any] = yaml.safe_load(blocks("yaml")[0])
    assert (job["apiVersion"], job["kind"]) == ("ray.io/v1", "RayJob")
    cluster = job["spec"]["rayClusterSpec"]
    groups = [cluster["headGroupSpec"], *cluster["workerGroupSpecs"]]
    for group in groups:
        pod = group["template"]["spec"]
        (container,) = pod["containers"]
        mounted = {mount["name"] for mount in container["volumeMounts"]}
        assert mounted == {volume["name"] for volume in pod["volumes"]}
        assert container["resources"]["requests"] == container["resources"]["limits"]
        assert {one["name"] for one in container["env"]} == {"LEADLINE_CACHE", "HF_HOME"}
    images = {group["template"]["spec"]["containers"][0]["image"] for group in groups}
    assert len(images) == 1, "every node has the same versions"
    assert all(isinstance(value, str) for value in cluster["headGroupSpec"]["rayStartParams"].values())
    assert job["spec"]["entrypoint"].startswith("leadline run /studies/")


def test_the_study_of_a_served_model_is_one() -> None:
    part = yaml.safe_load(blocks("yaml")[1])
    config = StudyConfig.model_validate({"name": "x", "benchmark": "facts", **part})
    assert config.models[0].label == "llama-8b"


@pytest.mark.parametrize("line", [line[2:] for block in blocks("console") for line in block.splitlines()])
def test_commands_have_these_options(line: str) -> None:
    from typer.main import get_command

    from leadline.cli.app import app

    words = shlex.split(line)
    known = {option for one in get_command(app).commands[words[1]].params for option in one.opts}  # type: ignore[attr-defined]
    assert {word for word in words if word.startswith("--")} <= known


def test_what_was_not_measured_is_said() -> None:
    assert "nothing on this page was run on several machines" in " ".join(PAGE.split())
