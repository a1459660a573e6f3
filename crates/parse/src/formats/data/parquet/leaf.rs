//! Decodes the values of one leaf of a row group, with the levels that place them, a batch of rows at a time.

use std::vec::IntoIter;

use parquet::basic::Compression;
use parquet::column::page::{Page, PageMetadata, PageReader};
use parquet::column::reader::{ColumnReader, ColumnReaderImpl, get_column_reader};
use parquet::data_type::DataType;
use parquet::errors::{ParquetError, Result as PageResult};
use parquet::file::reader::RowGroupReader;

use super::value::{Kind, Value};
use super::{Budget, Stop, damaged};

/// Values that the pages of a leaf may state, over all lists of a row group: a few bytes can state billions.
const MOST_VALUES: u64 = 1 << 25;

const BROTLI: &str = "it is compressed by Brotli: write it by Snappy, gzip, LZ4 or Zstandard";
const LZO: &str = "it is compressed by LZO: write it by Snappy, gzip, LZ4 or Zstandard";

/// The values of a leaf, in order.
pub(super) struct Leaf {
    reader: ColumnReader,
    kind: Kind,
    /// The definition level of a value that is there.
    filled: i16,
    /// Of the batch. Empty where all are 0.
    definitions: Vec<i16>,
    repetitions: Vec<i16>,
    /// Those that are there.
    values: IntoIter<Value>,
    /// The next place of the batch, and how many there are.
    at: usize,
    n: usize,
}

impl Leaf {
    pub(super) fn open(group: &dyn RowGroupReader, at: usize) -> Result<Self, Stop> {
        if group.num_columns() <= at {
            return Err(damaged("the row group does not hold it"));
        }
        match group.metadata().column(at).compression() {
            Compression::BROTLI(_) => return Err(damaged(BROTLI)),
            Compression::LZO => return Err(damaged(LZO)),
            _ => {}
        }
        let column = group.metadata().schema_descr().column(at);
        let pages = Pages { inner: group.get_column_page_reader(at)?, values_left: MOST_VALUES };
        Ok(Self {
            kind: Kind::of(&column),
            filled: column.max_def_level(),
            reader: get_column_reader(column, Box::new(pages)),
            definitions: Vec::new(),
            repetitions: Vec::new(),
            values: Vec::new().into_iter(),
            at: 0,
            n: 0,
        })
    }

    /// Decodes the values of the next rows.
    pub(super) fn fill(&mut self, n_rows: usize, budget: &mut Budget) -> Result<(), Stop> {
        self.definitions.clear();
        self.repetitions.clear();
        let Self { reader, kind, definitions, repetitions, .. } = self;
        let mut batch = Batch { n_rows, definitions, repetitions, budget };
        let (values, n) = match reader {
            ColumnReader::BoolColumnReader(reader) => {
                batch.read(reader, |value| Some(Value::truth(*value)))
            }
            ColumnReader::Int32ColumnReader(reader) => {
                batch.read(reader, |value| kind.int32(*value))
            }
            ColumnReader::Int64ColumnReader(reader) => {
                batch.read(reader, |value| kind.int64(*value))
            }
            ColumnReader::Int96ColumnReader(reader) => batch.read(reader, Kind::int96),
            ColumnReader::FloatColumnReader(reader) => {
                batch.read(reader, |value| Some(Value::real(*value)))
            }
            ColumnReader::DoubleColumnReader(reader) => {
                batch.read(reader, |value| Some(Value::real(*value)))
            }
            ColumnReader::ByteArrayColumnReader(reader) => {
                batch.read(reader, |value| kind.bytes(value.data()))
            }
            ColumnReader::FixedLenByteArrayColumnReader(reader) => {
                batch.read(reader, |value| kind.bytes(value.data()))
            }
        }?;
        (self.values, self.at, self.n) = (values.into_iter(), 0, n);
        Ok(())
    }

    /// The next value.
    pub(super) fn take(&mut self) -> Result<Value, Stop> {
        let definition = self.definition()?;
        self.at += 1;
        if definition != self.filled {
            return Ok(Value::Null);
        }
        self.values.next().ok_or_else(|| damaged("it has fewer values than its levels state"))
    }

    /// The definition level of the next value.
    pub(super) fn definition(&self) -> Result<i16, Stop> {
        if self.n <= self.at {
            return Err(damaged("its parts have different lengths"));
        }
        Ok(self.definitions.get(self.at).copied().unwrap_or(self.filled))
    }

    /// The repetition level of the next value; 0, that of a new row, behind the last.
    pub(super) fn repetition(&self) -> i16 {
        self.repetitions.get(self.at).copied().unwrap_or(0)
    }

    pub(super) fn is_between_rows(&self) -> bool {
        self.repetition() == 0
    }
}

/// Rows to decode, and where their levels go.
struct Batch<'a> {
    n_rows: usize,
    definitions: &'a mut Vec<i16>,
    repetitions: &'a mut Vec<i16>,
    budget: &'a mut Budget,
}

impl Batch<'_> {
    /// The values that are there, and how many places there are with nulls.
    fn read<T: DataType>(
        &mut self,
        reader: &mut ColumnReaderImpl<T>,
        convert: impl Fn(&T::T) -> Option<Value>,
    ) -> Result<(Vec<Value>, usize), Stop> {
        let mut decoded = Vec::new();
        let (definitions, repetitions) = (&mut *self.definitions, &mut *self.repetitions);
        let (n_rows, _, n) =
            reader.read_records(self.n_rows, Some(definitions), Some(repetitions), &mut decoded)?;
        if n_rows < self.n_rows {
            return Err(damaged("it ends before the last row"));
        }
        let mut values = Vec::with_capacity(decoded.len());
        for value in &decoded {
            let value = convert(value).unwrap_or_else(|| {
                self.budget.n_unread += 1;
                Value::Null
            });
            if let Value::Bare(text) | Value::Text(text) = &value {
                self.budget.take(text.len())?;
            }
            values.push(value);
        }
        Ok((values, n))
    }
}

/// Pages that state no more values than may be decoded.
struct Pages {
    inner: Box<dyn PageReader>,
    values_left: u64,
}

impl Iterator for Pages {
    type Item = PageResult<Page>;

    fn next(&mut self) -> Option<Self::Item> {
        self.get_next_page().transpose()
    }
}

impl PageReader for Pages {
    fn get_next_page(&mut self) -> PageResult<Option<Page>> {
        let page = self.inner.get_next_page()?;
        if let Some(page) = page.as_ref().filter(|page| page.is_data_page()) {
            let left = self.values_left.checked_sub(u64::from(page.num_values()));
            self.values_left = left.ok_or_else(|| {
                let reason = format!("it states more than the {MOST_VALUES} values allowed");
                ParquetError::General(reason)
            })?;
        }
        Ok(page)
    }

    fn peek_next_page(&mut self) -> PageResult<Option<PageMetadata>> {
        self.inner.peek_next_page()
    }

    fn skip_next_page(&mut self) -> PageResult<()> {
        self.inner.skip_next_page()
    }

    fn at_record_boundary(&mut self) -> PageResult<bool> {
        self.inner.at_record_boundary()
    }
}
