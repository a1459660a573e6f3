//! Computes C ← α·A·B + β·C on slices, with the one unsafe call of this crate behind checked views.

/// A matrix within a slice: element (i, j) is at `i · row_stride + j · column_stride`.
#[derive(Clone, Copy)]
pub(super) struct Matrix<'a> {
    values: &'a [f32],
    rows: usize,
    columns: usize,
    row_stride: usize,
    column_stride: usize,
}

impl<'a> Matrix<'a> {
    /// The first `columns` of each of `rows` rows that start `row_stride` apart.
    pub(super) fn new(
        values: &'a [f32],
        [rows, columns]: [usize; 2],
        row_stride: usize,
    ) -> Result<Self, OutOfBounds> {
        check(values.len(), [rows, columns], row_stride)?;
        Ok(Self { values, rows, columns, row_stride, column_stride: 1 })
    }

    /// The same numbers with rows and columns exchanged; nothing is copied.
    pub(super) fn transposed(self) -> Self {
        Self {
            values: self.values,
            rows: self.columns,
            columns: self.rows,
            row_stride: self.column_stride,
            column_stride: self.row_stride,
        }
    }
}

/// A matrix to write to; its elements never overlap.
pub(super) struct MatrixMut<'a> {
    values: &'a mut [f32],
    rows: usize,
    columns: usize,
    row_stride: usize,
}

impl<'a> MatrixMut<'a> {
    /// The first `columns` of each of `rows` rows that start `row_stride` apart.
    pub(super) fn new(
        values: &'a mut [f32],
        [rows, columns]: [usize; 2],
        row_stride: usize,
    ) -> Result<Self, OutOfBounds> {
        check(values.len(), [rows, columns], row_stride)?;
        Ok(Self { values, rows, columns, row_stride })
    }
}

/// A matrix exceeds its slice, or two do not fit together: a bug in the forward pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("matrices of {0} × {1} and {2} × {3} numbers do not fit")]
pub(super) struct OutOfBounds(usize, usize, usize, usize);

/// Rows must not overlap, and the last one must end within the slice.
fn check(length: usize, [rows, columns]: [usize; 2], row_stride: usize) -> Result<(), OutOfBounds> {
    let end = rows
        .saturating_sub(1)
        .checked_mul(row_stride)
        .and_then(|last_row| last_row.checked_add(columns));
    let inside = end.is_some_and(|end| end <= length);
    let apart = columns <= row_stride && isize::try_from(row_stride).is_ok();
    if inside && apart {
        return Ok(());
    }
    Err(OutOfBounds(rows, columns, length, row_stride))
}

/// C ← `scale`·A·B + `keep`·C. Each element of C is the same for any number of rows.
pub(super) fn multiply(
    scale: f32,
    a: Matrix<'_>,
    b: Matrix<'_>,
    keep: f32,
    c: &mut MatrixMut<'_>,
) -> Result<(), OutOfBounds> {
    if a.columns != b.rows || a.rows != c.rows || b.columns != c.columns {
        return Err(OutOfBounds(a.rows, a.columns, b.rows, b.columns));
    }
    #[expect(unsafe_code, reason = "the fast matrix product takes raw pointers")]
    // SAFETY: `check` ran on every view, so element (rows − 1, columns − 1) and with it every
    // other one lies within its slice (a slice has at most `isize::MAX` bytes). `transposed` exchanges
    // the two strides together with the two sizes. Rows of C do not overlap (`columns <=
    // row_stride`, column stride 1), and C is borrowed mutably, so it aliases neither A nor B.
    unsafe {
        matrixmultiply::sgemm(
            a.rows,
            a.columns,
            b.columns,
            scale,
            a.values.as_ptr(),
            a.row_stride.cast_signed(),
            a.column_stride.cast_signed(),
            b.values.as_ptr(),
            b.row_stride.cast_signed(),
            b.column_stride.cast_signed(),
            keep,
            c.values.as_mut_ptr(),
            c.row_stride.cast_signed(),
            1,
        );
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn multiplies_within_larger_rows() {
        let a = [1.0, 2.0, 9.0, 3.0, 4.0, 9.0]; // 2 × 2 in rows of 3
        let b = [5.0, 6.0, 7.0, 8.0];
        let mut c = [1.0, 1.0, -1.0, 1.0, 1.0];
        let a = Matrix::new(&a, [2, 2], 3).unwrap();
        let b = Matrix::new(&b, [2, 2], 2).unwrap().transposed();
        multiply(2.0, a, b, 1.0, &mut MatrixMut::new(&mut c, [2, 2], 3).unwrap()).unwrap();
        assert_eq!(format!("{c:?}"), "[35.0, 47.0, -1.0, 79.0, 107.0]");
    }

    #[test]
    fn refuses_matrices_that_do_not_fit() {
        let values = [0.0; 5];
        assert!(Matrix::new(&values, [2, 3], 3).is_err(), "one number short");
        assert!(Matrix::new(&values, [2, 3], 2).is_err(), "rows overlap");
        assert!(Matrix::new(&values, [2, 1], usize::MAX).is_err(), "beyond any slice");
        assert!(Matrix::new(&values, [usize::MAX, 2], 2).is_err(), "too many rows");
        let (a, b) = (Matrix::new(&values, [1, 3], 3), Matrix::new(&values, [2, 2], 2));
        let mut c = [0.0; 4];
        let c = &mut MatrixMut::new(&mut c, [1, 2], 2).unwrap();
        assert!(multiply(1.0, a.unwrap(), b.unwrap(), 0.0, c).is_err(), "3 columns, 2 rows");
    }

    #[test]
    fn a_row_does_not_depend_on_its_neighbours() {
        let number = |i: usize| ((i * 7919 % 1009) as f32 / 1009.0) - 0.5;
        let (depth, width) = (300, 40); // deeper than one of sgemm's blocks
        let a: Vec<f32> = (0..70 * depth).map(number).collect();
        let b: Vec<f32> = (0..depth * width).map(number).collect();
        let product = |rows: usize| {
            let mut c = vec![0.5; rows * width];
            let view = Matrix::new(&a, [rows, depth], depth).unwrap();
            let b = Matrix::new(&b, [depth, width], width).unwrap();
            let into = &mut MatrixMut::new(&mut c, [rows, width], width).unwrap();
            multiply(1.0, view, b, 1.0, into).unwrap();
            c
        };
        let all = product(70);
        for rows in [1, 2, 7, 16, 17, 64] {
            assert_eq!(all[..rows * width], product(rows)[..], "{rows} rows");
        }
    }
}
