#!/usr/bin/env python3
"""Says which closed forms no test has a second derivation of: each is put off by a twentieth in turn, and a test must fail.

    forms.py BUILD [FORM...]

BUILD is made as for mutate.py. Only tests whose values come from outside the program count: the second implementation, the
cases of textbooks and courses, and unit tests, but not those that compare the program with itself.
"""
import json, os, subprocess, sys, tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
WITH_ITSELF = {"unit.formulas", "unit.agreement", "unit.need_back", "unit.exports", "unit.problem", "unit.chip_order",
               "unit.properties", "unit.serve_draws", "unit.rl_search", "unit.search"}


def tests_of(build):
    shown = json.loads(subprocess.check_output(["ctest", "--test-dir", build, "--show-only=json-v1"]))
    for test in shown["tests"]:
        properties = {p["name"]: p["value"] for p in test["properties"]}
        labels = properties.get("LABELS", [])
        if {"unit", "textbook"} & set(labels) and "slow" not in labels and test["name"] not in WITH_ITSELF:
            yield test["name"], test["command"], properties.get("WORKING_DIRECTORY", build)


def main():
    build, wanted = os.path.abspath(sys.argv[1]), set(sys.argv[2:])
    library = os.path.join(build, "spoiled.so")
    subprocess.check_call(["cc", "-shared", "-fPIC", "-O1", "-D_GNU_SOURCE", "-I" + os.path.join(ROOT, "include"), "-o", library,
                           os.path.join(ROOT, "tests/mutation/spoiled.c"), "-lm"])
    forms = subprocess.check_output(["nm", "--defined-only", library], text=True).split()
    forms = {name[3:] for name in forms if name.startswith("sp_")}
    here = dict(os.environ, LD_LIBRARY_PATH=build, LD_PRELOAD=library)

    def run(command, folder, **more):
        return subprocess.run(command, cwd=folder, env=dict(here, **more), stdout=subprocess.DEVNULL,
                              stderr=subprocess.DEVNULL).returncode

    entering = {name: [] for name in forms}
    for name, command, folder in tests_of(build):
        with tempfile.NamedTemporaryFile() as list_:
            start = os.times()
            if run(command, folder, ENTERED=list_.name) != 0:
                print(f"{name}: fails as it is", file=sys.stderr)
                continue
            end = os.times()
            cost = end.children_user + end.children_system - start.children_user - start.children_system
            for form in set(list_.read().decode().split()):
                entering[form].append((not name.startswith(("obvious", "textbook")), cost, name, command, folder))
    missed = []
    for form in sorted(wanted or forms):
        caught = next((name for *_, name, command, folder in sorted(entering[form])
                       if run(command, folder, SPOILED=form) != 0), None)
        print(f"{form}: {caught or 'not caught'} ({len(entering[form])} tests enter it)", flush=True)
        if not caught:
            missed.append(form)
    print(f"{len(wanted or forms) - len(missed)} of {len(wanted or forms)} forms are watched")
    return bool(missed)


sys.exit(main())
