"""Writes the Parquet files of the tests into the folder `parquet` beside this file. Needs pyarrow (made with 26.0.1)."""

import datetime
import decimal
import pathlib
import uuid

import pyarrow as pa
import pyarrow.parquet as pq

FOLDER = pathlib.Path(__file__).parent / "parquet"
UTC = datetime.timezone.utc


def write(name: str, table: pa.Table, **options) -> None:
    """Without Arrow's own schema, which would be half of a small file."""
    pq.write_table(table, FOLDER / f"{name}.parquet", store_schema=False, **options)


def types() -> pa.Table:
    """A row of values, a row of other values, a row of nulls."""
    moment = datetime.datetime(2024, 5, 1, 12, 30, 0, 250_000)
    columns = {
        "yes": pa.array([True, False, None]),
        "i8": pa.array([-128, 127, None], pa.int8()),
        "u8": pa.array([0, 255, None], pa.uint8()),
        "i16": pa.array([-5, 5, None], pa.int16()),
        "u32": pa.array([0, 4_294_967_295, None], pa.uint32()),
        "i64": pa.array([-(2**63), 2**63 - 1, None], pa.int64()),
        "u64": pa.array([0, 2**64 - 1, None], pa.uint64()),
        "f16": pa.array([1.5, -0.25, None], pa.float16()),
        "f32": pa.array([0.1, -2.0, None], pa.float32()),
        "f64": pa.array([120.5, float("nan"), None], pa.float64()),
        "dec9": pa.array([decimal.Decimal("12.50"), decimal.Decimal("-0.05"), None], pa.decimal128(9, 2)),
        "dec38": pa.array([decimal.Decimal("12345678901234567890.000000000001"), decimal.Decimal("-1"), None], pa.decimal128(38, 12)),
        "dec76": pa.array([decimal.Decimal(10) ** 75, -(decimal.Decimal(10) ** 75), None], pa.decimal256(76, 0)),
        "text": pa.array(["阀门", "", None]),
        "kind": pa.array(["pump", "valve", None]).dictionary_encode(),
        "day": pa.array([datetime.date(2024, 2, 29), datetime.date(1969, 12, 31), None]),
        "time": pa.array([datetime.time(8, 5), datetime.time(23, 59, 59, 1), None], pa.time64("us")),
        "milli": pa.array([moment, datetime.datetime(1969, 12, 31, 23, 59, 59), None], pa.timestamp("ms")),
        "micro": pa.array([datetime.datetime(2024, 5, 1), moment, None], pa.timestamp("us")),
        "nano": pa.array([1_714_566_600_000_000_001, 0, None], pa.timestamp("ns")),
        "utc": pa.array([moment.replace(tzinfo=UTC), datetime.datetime(2024, 5, 1, tzinfo=UTC), None], pa.timestamp("us", tz="UTC")),
        "uuid": pa.array([uuid.UUID(int=2**127 + 255).bytes, None, None], pa.uuid()),
    }
    return pa.table(columns)


def nested() -> pa.Table:
    """Lists, structs and maps, and each in another; filled, empty, null."""
    part = pa.struct([("name", pa.string()), ("price", pa.decimal128(9, 2))])
    columns = {
        "id": pa.array([1, 2, 3, 4]),
        "tags": pa.array([["a", None, 'b "c"'], [], None, ["d"]]),
        "part": pa.array([{"name": "Pump", "price": decimal.Decimal("1.50")}, {"name": None, "price": None}, None, {"name": "Seal"}], part),
        "parts": pa.array([[{"name": "x", "price": decimal.Decimal("2.00")}, None], [], None, [{"name": "y", "price": None}]], pa.list_(part)),
        "by_day": pa.array([[("mon", 1), ("tue", None)], [], None, [("wed", 3)]], pa.map_(pa.string(), pa.int32())),
        "grid": pa.array([[[1, 2], [], None, [3]], [], None, [[None]]], pa.list_(pa.list_(pa.int64()))),
        "when": pa.array([[datetime.date(2024, 1, 2)], None, [], [None]]),
    }
    return pa.table(columns)


def orders() -> pa.Table:
    """Forty orders over four months."""
    n = 40
    return pa.table({
        "order_no": [f"A-{at:03}" for at in range(n)],
        "region": [("north", "south", "east")[at % 3] for at in range(n)],
        "ordered": pa.array([datetime.date(2024, 1 + at // 10, 1 + at % 10) for at in range(n)]),
        "amount": pa.array([decimal.Decimal(100 + 5 * at) / 100 for at in range(n)], pa.decimal128(10, 2)),
    })


def raw() -> pa.Table:
    """Bytes: text, no text, and text by name alone."""
    broken = pa.array([b"plain", b"\xff\xfe", None], pa.binary()).view(pa.string())
    return pa.table({
        "id": [1, 2, 3],
        "bytes": pa.array([b"caf\xc3\xa9", b"\x00\xff", b"\x00\x01"], pa.binary()),
        "broken": broken,
        "list": pa.array([[b"ok", b"\xff"], [], None], pa.list_(pa.binary())),
    })


def main() -> None:
    FOLDER.mkdir(exist_ok=True)
    write("types", types(), compression="snappy")
    write("nested", nested(), compression="zstd")
    # Four row groups, several pages in each.
    write("orders", orders(), compression="none", row_group_size=11, data_page_size=16, write_batch_size=4, use_dictionary=["region"])
    write("orders_v2", orders(), compression="snappy", data_page_version="2.0", column_encoding={
        "order_no": "DELTA_BYTE_ARRAY", "region": "DELTA_LENGTH_BYTE_ARRAY", "ordered": "DELTA_BINARY_PACKED",
    }, use_dictionary=False)
    write("empty", orders().slice(0, 0), compression="snappy")
    write("raw", raw(), compression="none")
    # As older programs write: times of 96 bits, lists of two levels.
    old = pa.table({
        "at": pa.array([datetime.datetime(2024, 5, 1, 12, 30), None], pa.timestamp("ns")),
        "gz": ["one", "two"],
        "lz": pa.array([["three"], ["four", "five"]]),
    })
    codecs = {"at": "none", "gz": "gzip", "lz.list.item": "lz4"}
    write("old", old, compression=codecs, version="1.0", use_deprecated_int96_timestamps=True, use_compliant_nested_type=False)
    write("brotli", pa.table({"a": ["one", "two"]}), compression="brotli")


if __name__ == "__main__":
    main()
