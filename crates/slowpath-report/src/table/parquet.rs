//! Parquet, by the columns: equal tables give equal bytes.

use std::io::Write;
use std::sync::Arc;

use parquet::basic::{Compression, LogicalType, Repetition, Type as Physical};
use parquet::data_type::{BoolType, ByteArray, ByteArrayType, DoubleType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::{Type, TypePtr};

use super::{Column, DESCRIPTION, Table, Values};

/// Writes a table as Parquet with one group of rows, compressed with Snappy.
///
/// Whole numbers are `UINT_64`; every column may have missing values.
///
/// # Errors
/// Those of `out`.
pub fn write_parquet(table: &Table, out: &mut (dyn Write + Send)) -> std::io::Result<()> {
    written(table, out).map_err(std::io::Error::other)
}

fn written(table: &Table, out: &mut (dyn Write + Send)) -> Result<(), ParquetError> {
    let fields = table.columns.iter().map(field).collect::<Result<_, _>>()?;
    let schema = Type::group_type_builder(table.name).with_fields(fields).build()?;
    let properties = WriterProperties::builder()
        .set_compression(Compression::SNAPPY)
        .set_created_by("slowpath".to_owned())
        .set_key_value_metadata(Some(vec![KeyValue::new(
            DESCRIPTION.to_owned(),
            described(table),
        )]))
        .build();
    let mut file = SerializedFileWriter::new(out, Arc::new(schema), Arc::new(properties))?;
    let mut group = file.next_row_group()?;
    for column in &table.columns {
        let Some(mut writer) = group.next_column()? else {
            break;
        };
        let levels = levels(&column.values);
        let levels = Some(levels.as_slice());
        match &column.values {
            Values::Text(values) => {
                let present: Vec<ByteArray> =
                    values.iter().flatten().map(|text| text.as_str().into()).collect();
                writer
                    .typed::<ByteArrayType>()
                    .write_batch(&present, levels, None)?;
            }
            Values::Real(values) => {
                let present: Vec<f64> = values.iter().flatten().copied().collect();
                writer.typed::<DoubleType>().write_batch(&present, levels, None)?;
            }
            Values::Whole(values) => {
                let present: Vec<i64> = values.iter().flatten().map(|value| value.cast_signed()).collect();
                writer.typed::<Int64Type>().write_batch(&present, levels, None)?;
            }
            Values::Truth(values) => {
                let present: Vec<bool> = values.iter().flatten().copied().collect();
                writer.typed::<BoolType>().write_batch(&present, levels, None)?;
            }
        }
        writer.close()?;
    }
    group.close()?;
    file.close().map(drop)
}

fn field(column: &Column) -> Result<TypePtr, ParquetError> {
    let (physical, logical) = match column.values {
        Values::Text(_) => (Physical::BYTE_ARRAY, Some(LogicalType::String)),
        Values::Real(_) => (Physical::DOUBLE, None),
        Values::Whole(_) => (Physical::INT64, Some(LogicalType::integer(64, false))),
        Values::Truth(_) => (Physical::BOOLEAN, None),
    };
    let built = Type::primitive_type_builder(&column.name, physical)
        .with_repetition(Repetition::OPTIONAL)
        .with_logical_type(logical)
        .build()?;
    Ok(Arc::new(built))
}

/// One for each value that is there, none for a missing one: Parquet's definition levels.
fn levels(values: &Values) -> Vec<i16> {
    fn of<T>(values: &[Option<T>]) -> Vec<i16> {
        values.iter().map(|value| i16::from(value.is_some())).collect()
    }
    match values {
        Values::Text(values) => of(values),
        Values::Real(values) => of(values),
        Values::Whole(values) => of(values),
        Values::Truth(values) => of(values),
    }
}

/// What the columns mean.
fn described(table: &Table) -> String {
    let columns: serde_json::Map<String, serde_json::Value> = (table.columns.iter())
        .map(|column| (column.name.clone(), column.about.into()))
        .collect();
    serde_json::Value::Object(columns).to_string()
}

#[cfg(test)]
mod tests {
    use parquet::file::reader::{FileReader, SerializedFileReader};
    use parquet::record::RowAccessor;

    use super::*;
    use crate::table::tests::sample;

    #[test]
    fn what_was_written_is_read() {
        let table = sample();
        let [first, second] = [(); 2].map(|()| {
            let mut out = Vec::new();
            write_parquet(&table, &mut out).unwrap();
            out
        });
        assert_eq!(first, second, "equal tables, equal bytes");
        let path = std::env::temp_dir().join(format!("slowpath-table-{}.parquet", std::process::id()));
        std::fs::write(&path, &first).unwrap();
        let reader = SerializedFileReader::new(std::fs::File::open(&path).unwrap()).unwrap();
        std::fs::remove_file(&path).unwrap();
        let description = reader.metadata().file_metadata().key_value_metadata().unwrap();
        assert!(
            description[0]
                .value
                .as_ref()
                .unwrap()
                .contains("\"duration_s\":\"How long.\"")
        );
        let rows: Vec<_> = reader.get_row_iter(None).unwrap().map(Result::unwrap).collect();
        assert_eq!(rows.len(), 2);
        assert_eq!(rows[0].get_string(0).unwrap(), "a,\"b\"");
        assert!(rows[1].get_string(0).is_err(), "missing");
        assert!((rows[0].get_double(1).unwrap() - 0.25).abs() < 1e-12);
        assert_eq!(rows[1].get_ulong(2).unwrap(), u64::MAX);
        assert!(rows[0].get_bool(3).unwrap());
    }
}
