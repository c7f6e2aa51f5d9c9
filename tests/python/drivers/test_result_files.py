"""Result files and tensors from CSV files."""

import csv

import numpy as np
import pytest
import torch
from driver_inputs import python_tensor

from matlaw.drivers.components import component_suffixes
from matlaw.drivers.result_file import load, save
from matlaw.errors import FatalError, InputFileError
from matlaw.input import InputFile

SUM = "type = SR2LinearCombination\n from = 'a b'\n to = c\n weights = '1 -1'"
TENSORS = (
    python_tensor("times", "Scalar(torch.tensor([0.0, 0.5, 2.0]))")
    + python_tensor("A", "SR2(torch.arange(18.0).reshape(3, 6) / 7)")
    + python_tensor("B", "SR2(torch.arange(36.0).reshape(3, 2, 6))")
)
DRIVER = "prescribed_time = times\n prescribed_SR2_names = 'a b'\n prescribed_SR2_values = 'A B'"


@pytest.fixture
def history(drive):
    return drive(SUM, DRIVER, TENSORS).history


@pytest.mark.parametrize("ending", [".pt", ".npz"])
def test_values_come_back(history, tmp_path, ending):
    save(history, tmp_path / f"new/x{ending}")
    found, expected = load(tmp_path / f"new/x{ending}"), history.flat()
    assert found.keys() == expected.keys()
    assert all(torch.equal(found[name], expected[name]) for name in expected)
    assert [p.name for p in (tmp_path / "new").iterdir()] == [f"x{ending}"]


def test_files_are_read_without_this_program(history, tmp_path):
    save(history, tmp_path / "x.pt")
    save(history, tmp_path / "x.npz")
    c = history.get("output", 2, "c")
    assert torch.equal(torch.load(tmp_path / "x.pt", weights_only=True)["output.2.c"], c)
    assert np.array_equal(np.load(tmp_path / "x.npz")["output.2.c"], c.numpy())


def test_csv_has_a_line_per_step_and_row(history, tmp_path):
    save(history, tmp_path / "x.csv")
    with (tmp_path / "x.csv").open() as file:
        lines = list(csv.DictReader(file))
    assert [(line["step"], line["row"]) for line in lines] == [(str(s), str(r)) for s in range(3) for r in range(2)]
    for line in lines[2:]:
        c = history.get("output", int(line["step"]), "c")[int(line["row"])]
        assert [float(line[f"output.c_{x}"]) for x in ("xx", "yy", "zz", "yz", "xz", "xy")] == c.tolist()
    assert lines[0]["output.c_xx"] == "nan" and float(lines[3]["input.a_yy"]) == 1.0


def test_a_csv_result_can_be_prescribed_again(history, tmp_path, write):
    save(history, tmp_path / "x.csv")
    path = write("[Tensors]\n [c]\n type = CSVSR2\n csv_file = x.csv\n variable = 'output.c'\n []\n[]\n")
    entry = InputFile(path).build("Tensors", "c")
    assert entry.batch_shape == (6,)
    assert torch.equal(entry.value.data[:, 5], history.get("output", 2, "c")[1])


def test_other_endings_are_refused(history, tmp_path):
    with pytest.raises(FatalError, match=r"ends with .pt, .npz, .csv, not '.txt'"):
        save(history, tmp_path / "x.txt")


def test_a_file_that_cannot_be_written_leaves_nothing(history, tmp_path):
    (tmp_path / "x.npz").mkdir()
    with pytest.raises(FatalError, match="cannot be written"):
        save(history, tmp_path / "x.npz")
    (tmp_path / "file").write_text("")
    with pytest.raises(FatalError, match="cannot be written"):
        save(history, tmp_path / "file" / "x.csv")
    assert [p.name for p in tmp_path.iterdir() if p.name.startswith(".")] == []


def test_component_names():
    assert component_suffixes("WR2", (3,), 1) == ["_zy", "_xz", "_yx"]
    assert component_suffixes("Scalar", (2,), 0) == ["_0", "_1"]
    assert component_suffixes("R2", (3, 3), 2)[:2] == ["_xx", "_xy"]
    assert component_suffixes("SSR4", (6, 6), 2)[7] == "_1_1"


@pytest.mark.parametrize(
    ("kind", "header"),
    [
        ("CSVScalar", "q"),
        ("CSVVec", "q_x,q_y,q_z"),
        ("CSVSR2", "q_xx,q_yy,q_zz,q_yz,q_xz,q_xy"),
        ("CSVWR2", "q_zy,q_xz,q_yx"),
    ],
)
def test_csv_tensors_take_their_columns_by_name(write, kind, header):
    names = header.split(",")
    shuffled = ["time", *reversed(names)]
    rows = [[t, *(10.0 * t + i for i in reversed(range(len(names))))] for t in (1.0, 2.0)]
    write("# made by hand\n\n" + "\n".join(",".join(map(str, row)) for row in [shuffled, *rows]), "x.csv")
    for option in ("variable = q", f"column_names = '{' '.join(names)}'"):
        path = write(f"[Tensors]\n [v]\n type = {kind}\n csv_file = x.csv\n {option}\n []\n[]\n")
        entry = InputFile(path).build("Tensors", "v")
        assert entry.batch_shape == (2,) and type(entry.value).__name__ == kind.removeprefix("CSV")
        assert entry.value.data.reshape(-1, 2).tolist() == [[10.0 + i, 20.0 + i] for i in range(len(names))]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("csv_file = x.csv\n variable = r", "unknown column 'r_x'"),
        ("csv_file = x.csv\n variable = q", r"line 3, column 'q_y': expected a number, got 'two'"),
        ("csv_file = x.csv", "neither is given"),
        ("csv_file = x.csv\n variable = q\n column_names = 'a b c'", "not both"),
        ("csv_file = x.csv\n column_names = 'q_x q_y'", "expected 3 columns for a Vec, got 2"),
        ("csv_file = y.csv\n variable = q", "cannot be read"),
    ],
)
def test_csv_tensors_name_what_is_wrong(write, options, message):
    write("q_x,q_y,q_z\n1,2,3\n1,two,3\n", "x.csv")
    path = write(f"[Tensors]\n [v]\n type = CSVVec\n {options}\n []\n[]\n")
    with pytest.raises(InputFileError, match=message):
        InputFile(path).build("Tensors", "v")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "is empty; expected a line of column names"),
        ("# nothing\n\n", "is empty; expected a line of column names"),
        ("q,r\n", "has a line of column names and no values"),
        ("q,r\n1,2\n3\n", "line 3: expected 2 values, as there are column names, got 1"),
        ("q,r\n1,2\n\n3,4,5\n", "line 4: expected 2 values, as there are column names, got 3"),
        ("q,q\n1,2\n", "2 columns are called 'q'"),
        ("q;r\n1;2\n", "unknown column 'q'. Known: q;r"),
        ('q,r\n1,"2\n3",4\n', "line 2: a quote has to end in its line"),
        ("q,r\n,2\n", "line 2, column 'q': expected a number, got ''"),
        ("q,r\n0x10,2\n", "line 2, column 'q': expected a number, got '0x10'"),
        ("q,r\n" + "9" * 200000 + ",2\n", "line 2: field larger than field limit"),
    ],
)
def test_files_of_another_form_are_refused(write, content, message):
    write(content, "x.csv")
    path = write("[Tensors]\n [v]\n type = CSVScalar\n csv_file = x.csv\n variable = q\n []\n[]\n")
    with pytest.raises(InputFileError, match=rf"law\.i:4: \[Tensors\]/\[v\]: option 'csv_file': .*x\.csv'.*{message}"):
        InputFile(path).build("Tensors", "v")


def test_quotes_blanks_and_line_ends_of_other_programs(write):
    write('\ufeff"q" , r,\r\n  # a comment\r\n "1.5", 2,\r\n\r\n-3e2, 4,,\r\n', "x.csv")
    path = write("[Tensors]\n [v]\n type = CSVScalar\n csv_file = x.csv\n variable = q\n []\n[]\n")
    assert InputFile(path).build("Tensors", "v").value.data.tolist() == [1.5, -300.0]
