"""Build the recipe and run its tests where no channel of conda packages can be reached.

::

    python packaging/conda/build_locally.py --sdist dist/autograd_cy-*.tar.gz --into build/conda
    python packaging/conda/build_locally.py ... --quick    # one instruction set, not optimised

The script makes a channel first, in ``--into``: packages with the names that conda-forge uses, from
the Python that runs the script, from gcc and the OpenMP runtime of this machine, and from PyPI's
wheels. Then rattler-build solves, builds, packs and tests as it does with conda-forge. The result
is a check of the recipe. It is not for others to install, because it needs this machine's gcc
runtime and C library.
"""

from __future__ import annotations

import argparse
import importlib.metadata
import json
import platform
import re
import shutil
import subprocess
import sys
import sysconfig
import textwrap
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.append(str(HERE.parents[1]))
from ext.build.requirements import build_requirements  # noqa: E402

VERSION = f"{sys.version_info.major}.{sys.version_info.minor}"
TAG = VERSION.replace(".", "")
#: The packages of the host environment that are wheels on PyPI.
WHEELS = ("cython", "numpy", "pip", "scipy", "setuptools")
#: A file by which this script knows the channels that it made.
MARK = "made-by-build_locally.txt"
#: What conda-forge's packages make others depend on.
EXPORTS = {"numpy": "numpy >=1.23,<3"}
#: The flags with which conda-forge compiles for x86.
FLAGS = (
    "-march=nocona -mtune=haswell -ftree-vectorize -fPIC -fstack-protector-strong -fno-plt -O2 "
    "-ffunction-sections -pipe"
)
LINK_FLAGS = (
    "-Wl,-O2 -Wl,--sort-common -Wl,--as-needed -Wl,-z,relro -Wl,-z,now -Wl,--disable-new-dtags "
    "-Wl,--gc-sections"
)


def said(*command: str) -> str:
    """Return what a command prints."""
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


def build_of_python() -> str:
    """Return the end of the build strings of conda-forge's Python."""
    return "cpython" if sys.version_info < (3, 13) else f"cp{TAG}"


def recipe(name: str, version: str, script: str, string: str = "0", **requirements) -> dict:
    """Return a recipe of a package that a shell script fills."""
    return {
        "package": {"name": name, "version": version},
        "build": {
            "number": 0,
            "string": string,
            "script": {"content": f"set -e\n{textwrap.dedent(script)}"},
            "dynamic_linking": {"binary_relocation": False},
            "prefix_detection": {"ignore_binary_files": True},
            "python": {"skip_pyc_compilation": ["**"]},
        },
        "requirements": requirements,
        "about": {"summary": "made from this machine, to test a recipe"},
    }


def python_recipes() -> list[dict]:
    """Return recipes of Python, from the installation that runs this script."""
    prefix = sysconfig.get_config_var("installed_base")
    version = platform.python_version()
    program = f"bin/python{VERSION}"
    if not Path(prefix, program).is_file() or Path(prefix) == Path("/usr"):
        raise SystemExit(
            f"build_locally.py: the Python in {prefix} cannot be moved to another folder, as that "
            "of a distribution; run this script with a Python of pyenv, conda or a module"
        )
    # Its own prefix stands in the files that sysconfig reads, and becomes that of the package.
    script = f"""
        mkdir -p "$PREFIX/bin" "$PREFIX/lib" "$PREFIX/include"
        cp "{prefix}/{program}" "$PREFIX/bin/"
        ln -s python{VERSION} "$PREFIX/bin/python3"
        ln -s python{VERSION} "$PREFIX/bin/python"
        cp -r "{prefix}/include/python{VERSION}" "$PREFIX/include/"
        tar -C "{prefix}/lib" --exclude=site-packages --exclude=test --exclude=__pycache__ \\
            --exclude='*.a' -cf - python{VERSION} | tar -C "$PREFIX/lib" -xf -
        mkdir -p "$PREFIX/lib/python{VERSION}/site-packages"
        echo > "$PREFIX/lib/python{VERSION}/site-packages/README.txt"
        for file in "{prefix}"/lib/libpython*.so*; do
            [ ! -e "$file" ] || cp -d "$file" "$PREFIX/lib/"
        done
        grep -rlIF "{prefix}" "$PREFIX/lib" | xargs -r sed -i "s|{prefix}|$PREFIX|g"
    """
    abi, same = f"{VERSION}.* *_cp{TAG}", f"python {VERSION}.*"
    exports = {"noarch": ["python"], "weak": [f"python_abi {abi}"]}
    return [
        recipe("python_abi", VERSION, "true", f"0_cp{TAG}", run_constraints=[same]),
        recipe("python", version, script, f"0_{build_of_python()}", run_exports=exports,
               run=[f"python_abi {abi}"]),
    ]  # fmt: skip


def wheel_recipes(folder: Path) -> list[dict]:
    """Return recipes of packages from wheels, which pip downloads into a folder."""
    pip = (sys.executable, "-m", "pip", "--quiet")
    bounds = build_bounds()
    names = [bounds.get(name, name) for name in WHEELS]
    subprocess.run([*pip, "download", "--only-binary=:all:", "--no-deps", "-d", folder, *names],
                   check=True)  # fmt: skip
    recipes = []
    for path in sorted(folder.glob("*.whl")):
        name, version = path.name.split("-")[:2]
        name = name.lower()
        script = f"""
            "{sys.executable}" -m pip --quiet install --no-deps --no-index --no-compile \\
                --ignore-installed --prefix "$PREFIX" "{path}"
            [ ! -d "$PREFIX/bin" ] || grep -lI "^#!" "$PREFIX"/bin/* |
                xargs -r sed -i "1s|.*|#!$PREFIX/bin/python|"
        """
        exports = {"weak": [EXPORTS[name]]} if name in EXPORTS else {}
        run = [f"python {VERSION}.*"] + (["numpy"] if name == "scipy" else [])
        recipes.append(recipe(name, version, script, f"py{TAG}_0", run=run, run_exports=exports))
    return recipes


def build_bounds() -> dict[str, str]:
    """Return {name: requirement} of what pyproject.toml builds with."""
    return {re.match(r"[\w-]+", one)[0]: one for one in build_requirements()}


def compiler_recipes(quick: bool) -> list[dict]:
    """Return recipes of gcc, of its runtimes and of the C library: those of this machine."""
    major = said("gcc", "-dumpversion").partition(".")[0]
    library = platform.libc_ver()[1]
    activate = f"""
        place=${{PREFIX:-$CONDA_PREFIX}}
        export CC=gcc
        export CFLAGS="{FLAGS} -isystem $place/include"
        export CPPFLAGS="-DNDEBUG -D_FORTIFY_SOURCE=2 -O2 -isystem $place/include"
        export LDFLAGS="{LINK_FLAGS} -Wl,-rpath,$place/lib -Wl,-rpath-link,$place/lib -L$place/lib"
    """
    if quick:
        activate += "    export AUTOGRAD_CY_SIMD=base AUTOGRAD_CY_OPT=0\n"
    script = f"""
        mkdir -p "$PREFIX/etc/conda/activate.d"
        cat > "$PREFIX/etc/conda/activate.d/gcc.sh" <<'END'
        {textwrap.dedent(activate)}
        END
    """
    # Not inside of an f-string's lines: the here-document must begin each line at its left.
    script = "\n".join(line.strip() for line in script.splitlines())

    def copy(name):
        path = Path(said("gcc", f"-print-file-name={name}")).resolve()
        return f'mkdir -p "$PREFIX/lib"\ncp "{path}" "$PREFIX/lib/{name}"\n'

    openmp = copy("libgomp.so.1") + 'ln -s libgomp.so.1 "$PREFIX/lib/libgomp.so"\n'
    export = {"strong": ["_openmp_mutex >=4.5"]}
    return [
        recipe("sysroot_linux-64", library, "true",
               run_exports={"strong": [f"__glibc >={library},<3.0.a0"]}),
        recipe("libgcc", major, copy("libgcc_s.so.1"), run=["_openmp_mutex >=4.5"]),
        recipe("libgomp", major, openmp, run_exports=export),
        recipe("_openmp_mutex", "4.5", "true", "20_gnu", run=["libgomp"]),
        recipe("gcc_linux-64", major, script, run_exports={"strong": [f"libgcc >={major}"]}),
    ]  # fmt: skip


def variants() -> dict[str, list[str]]:
    """Return the variant that can be built here; the keys are those of variants.yaml."""
    return {
        "python": [f"{VERSION}.* *_{build_of_python()}"],
        "cuda_compiler": ["cuda-nvcc"],
        "cuda_compiler_version": ["None"],
        "c_compiler": ["gcc"],
        "c_compiler_version": [said("gcc", "-dumpversion").partition(".")[0]],
        "c_stdlib": ["sysroot"],
        "c_stdlib_version": [platform.libc_ver()[1]],
    }


def run(recipe_file: Path, channel: Path, variant: dict, test: bool) -> Path:
    """Build one recipe into a channel, from the packages that the channel has."""
    import rattler_build
    from rattler_build.progress import ProgressCallback

    class Log(ProgressCallback):
        def on_log(self, event):
            lines.append(event.message)

    lines: list[str] = []
    rendered = rattler_build.Stage0Recipe.from_file(recipe_file).render(
        rattler_build.VariantConfig(variant)
    )
    strategy = "native" if test else "skip"
    try:
        result = rendered[0].run_build(
            tool_config=rattler_build.ToolConfiguration(test_strategy=strategy),
            output_dir=channel,
            channels=[channel.as_uri()],
            progress_callback=Log(),
            package_format="conda:1",
        )
    except Exception as error:
        text = "\n".join(lines[-200:])
        raise SystemExit(f"build_locally.py: {recipe_file}: {error}\n{text}") from error
    return Path(result.packages[0])


def make_empty(channel: Path) -> None:
    """Remove the channel of an earlier run; exit if the folder is something else."""
    if not channel.exists() or (channel.is_dir() and not any(channel.iterdir())):
        return
    if not (channel / MARK).is_file():
        raise SystemExit(
            f"build_locally.py: {channel} is no channel of this script and would be removed; name "
            "a new folder: --into build/conda"
        )
    shutil.rmtree(channel)


def main(arguments: list[str] | None = None) -> int:
    """Run the command line of this file."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--sdist", type=Path, required=True, help="the sdist that is built")
    parser.add_argument("--into", type=Path, required=True, help="the folder of the channel")
    parser.add_argument("--quick", action="store_true", help="compile little, to test the recipe")
    options = parser.parse_args(arguments)
    try:
        importlib.metadata.version("py-rattler-build")
    except importlib.metadata.PackageNotFoundError:
        parser.error("needs py-rattler-build: pip install py-rattler-build")
    if not (options.sdist.is_file() and options.sdist.name.endswith(".tar.gz")):
        parser.error(f"{options.sdist} is not an sdist; make one: python -m build --sdist")
    channel, work = options.into.resolve(), options.into.resolve() / "work"
    make_empty(channel)
    work.mkdir(parents=True)
    (channel / MARK).write_text("made by build_locally.py, and removed by it\n", encoding="utf-8")
    recipes = [*python_recipes(), *compiler_recipes(options.quick), *wheel_recipes(work / "wheels")]
    for one in recipes:
        folder = work / one["package"]["name"]
        folder.mkdir()
        (folder / "recipe.yaml").write_text(json.dumps(one, indent=1), encoding="utf-8")
        run(folder / "recipe.yaml", channel, {}, test=False)
    fill = [sys.executable, HERE.parent / "fill.py", "--sdist", options.sdist.resolve()]
    fill += ["--url", options.sdist.resolve().as_uri(), "--into", work / "filled"]
    subprocess.run(fill, check=True)
    package = run(work / "filled" / "conda" / "recipe.yaml", channel, variants(), test=True)
    print(package)
    return 0


if __name__ == "__main__":
    sys.exit(main())
