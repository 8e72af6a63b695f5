//! Products of rows with packed matrices: the safe side of the tiles.

use super::level::{Kind, Level};
use super::{Codes, PANEL, PackedF32, PackedInt8, TILE_ROWS, Table8, Tile, portable};
#[cfg(target_arch = "x86_64")]
use super::{avx2, avx512};

/// What becomes of a product.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Store {
    /// It replaces what was there.
    Set,
    /// It is added to what was there.
    Add,
    /// It replaces what was there, negative numbers becoming 0.
    Relu,
}

/// Where a product goes: row `i` starts at `i · stride`.
#[derive(Debug)]
pub(crate) struct Output<'a> {
    pub(crate) values: &'a mut [f32],
    pub(crate) stride: usize,
    pub(crate) store: Store,
}

impl Output<'_> {
    fn check(&self, rows: usize, outputs: usize) {
        assert!(rows == 0 || (rows - 1) * self.stride + outputs <= self.values.len(), "the product has room");
    }

    /// Writes one row of a panel; `value` finishes the sum of a column.
    #[inline(always)]
    fn write<T: Copy>(
        &mut self,
        row: usize,
        panel: usize,
        columns: usize,
        sums: &[T; PANEL],
        value: impl Fn(T, usize) -> f32,
    ) {
        let out = &mut self.values[row * self.stride + panel * PANEL..][..columns];
        // Whole panels have a length that the compiler knows.
        if let Ok(out) = <&mut [f32; PANEL]>::try_from(&mut *out) {
            match self.store {
                Store::Set => (0..PANEL).for_each(|i| out[i] = value(sums[i], i)),
                Store::Add => (0..PANEL).for_each(|i| out[i] += value(sums[i], i)),
                Store::Relu => (0..PANEL).for_each(|i| out[i] = positive(value(sums[i], i))),
            }
            return;
        }
        for (i, (out, &sum)) in out.iter_mut().zip(sums).enumerate() {
            *out = match self.store {
                Store::Set => value(sum, i),
                Store::Add => *out + value(sum, i),
                Store::Relu => positive(value(sum, i)),
            };
        }
    }
}

#[inline(always)]
fn positive(value: f32) -> f32 {
    if value > 0.0 { value } else { 0.0 }
}

/// Cuts rows into blocks of at most `limit`, of as equal size as can be: first row and number of rows of each.
#[inline(always)]
fn blocks(rows: usize, limit: usize) -> impl Iterator<Item = (usize, usize)> {
    let count = rows.div_ceil(limit);
    (0..count).map(move |i| (i * rows / count, (i + 1) * rows / count - i * rows / count))
}

/// Runs over panels and blocks of rows; `tile` sums up a number of rows from a first one on with a panel. A row of the
/// output comes from `lines` of these rows.
#[inline(always)]
fn run<T: Copy + Default>(
    limit: usize,
    rows: usize,
    lines: usize,
    outputs: usize,
    output: &mut Output<'_>,
    tile: impl Fn(usize, usize, usize, &mut Tile<T>),
    finish: impl Fn(&mut Output<'_>, usize, usize, usize, &[[T; PANEL]]),
) {
    let mut sums = [[T::default(); PANEL]; TILE_ROWS];
    for panel in 0..outputs.div_ceil(PANEL) {
        let columns = PANEL.min(outputs - panel * PANEL);
        for (first, count) in blocks(rows, limit / lines) {
            tile(count * lines, first * lines, panel, &mut sums);
            for (i, sums) in sums[..count * lines].chunks_exact(lines).enumerate() {
                finish(output, first + i, panel, columns, sums);
            }
        }
    }
}

/// The product of a number of rows that is known when compiling.
macro_rules! by_rows {
    ($count:expr, $module:ident, $tile:ident, $($argument:expr),*) => {
        match $count {
            1 => $module::$tile::<1>($($argument),*),
            2 => $module::$tile::<2>($($argument),*),
            3 => $module::$tile::<3>($($argument),*),
            4 => $module::$tile::<4>($($argument),*),
            5 => $module::$tile::<5>($($argument),*),
            _ => $module::$tile::<6>($($argument),*),
        }
    };
}

/// The product for one level: what the compiler may use, how many rows a tile has there, and its tile.
macro_rules! int8_level {
    ($name:ident, $features:literal, $limit:literal, $module:ident, $tile:ident) => {
        #[cfg(target_arch = "x86_64")]
        #[target_feature(enable = $features)]
        fn $name(codes: &Codes, matrix: &PackedInt8, output: &mut Output<'_>) {
            let tile = |count: usize, first: usize, panel: usize, sums: &mut Tile<i32>| {
                let codes_from = codes.numbers[first * codes.stride..].as_ptr();
                let panel_from = matrix.panels[panel * matrix.steps * 4 * PANEL..].as_ptr();
                // SAFETY: `product_int8` has checked that all rows of codes and all panels are there, and `blocks`
                // gives at most as many rows as there are.
                unsafe {
                    by_rows!(count, $module, $tile, codes_from, codes.stride, panel_from, matrix.steps, sums)
                }
            };
            run(
                $limit,
                codes.ranges.len(),
                codes.bytes,
                matrix.outputs,
                output,
                tile,
                |output, row, panel, columns, sums| {
                    finish_int8(codes, matrix, output, row, panel, columns, sums);
                },
            );
        }
    };
}
int8_level!(int8_avx2, "avx2,fma", 2, avx2, tile_int8);
int8_level!(int8_avx512, "avx512f,avx512bw,avx512dq,avx512vl,avx512vnni", 6, avx512, tile_int8);

macro_rules! f32_level {
    ($name:ident, $features:literal, $limit:literal, $module:ident, $tile:ident) => {
        #[cfg(target_arch = "x86_64")]
        #[target_feature(enable = $features)]
        fn $name(x: &[f32], matrix: &PackedF32, output: &mut Output<'_>) {
            let inputs = matrix.inputs;
            let tile = |count: usize, first: usize, panel: usize, sums: &mut Tile<f32>| {
                let x_from = x[first * inputs..].as_ptr();
                let panel_from = matrix.panels[panel * inputs * PANEL..].as_ptr();
                // SAFETY: `product_f32` has checked that all rows and all panels are there, and `blocks` gives at
                // most as many rows as there are.
                unsafe { by_rows!(count, $module, $tile, x_from, inputs, panel_from, inputs, sums) }
            };
            run(
                $limit,
                x.len() / inputs,
                1,
                matrix.outputs,
                output,
                tile,
                |output, row, panel, columns, sums| {
                    output.write(row, panel, columns, &sums[0], |sum, _| sum);
                },
            );
        }
    };
}
f32_level!(f32_avx2, "avx2,fma", 2, avx2, tile_f32);
f32_level!(f32_avx512, "avx512f,avx512bw,avx512dq,avx512vl,avx512vnni", 6, avx512, tile_f32);

/// Turns sums of codes times bytes into what they stand for.
#[inline(always)]
fn finish_int8(
    codes: &Codes,
    matrix: &PackedInt8,
    output: &mut Output<'_>,
    row: usize,
    panel: usize,
    columns: usize,
    sums: &[[i32; PANEL]],
) {
    let (step, least) = codes.ranges[row];
    let scales = &matrix.scales.as_chunks::<PANEL>().0[panel];
    let offsets = &matrix.offsets.as_chunks::<PANEL>().0[panel];
    match sums {
        [high, low] => output.write(row, panel, columns, high, |high, i| {
            (high as f32 * 256.0 + low[i] as f32) * step * scales[i] + least * offsets[i]
        }),
        _ => output.write(row, panel, columns, &sums[0], |sum, i| {
            sum as f32 * step * scales[i] + least * offsets[i]
        }),
    }
}

/// Multiplies rows of codes with a matrix.
///
/// # Panics
/// If the codes are narrower than the matrix, or the output has too little room.
pub(crate) fn product_int8(level: Level, codes: &Codes, matrix: &PackedInt8, mut output: Output<'_>) {
    let rows = codes.ranges.len();
    let panels = matrix.outputs.div_ceil(PANEL);
    assert!(
        codes.stride >= 4 * matrix.steps && codes.numbers.len() >= rows * codes.stride,
        "rows are wide enough"
    );
    assert_eq!(matrix.panels.len(), panels * matrix.steps * 4 * PANEL, "panels are whole");
    output.check(rows, matrix.outputs);
    match level.kind() {
        Kind::Portable => {
            let tile = |count: usize, first: usize, panel: usize, sums: &mut Tile<i32>| {
                let codes_from = &codes.numbers[first * codes.stride..];
                let panel = &matrix.panels[panel * matrix.steps * 4 * PANEL..][..matrix.steps * 4 * PANEL];
                by_rows!(count, portable, tile_int8, codes_from, codes.stride, panel, sums);
            };
            run(
                TILE_ROWS,
                rows,
                codes.bytes,
                matrix.outputs,
                &mut output,
                tile,
                |output, row, panel, columns, sums| {
                    finish_int8(codes, matrix, output, row, panel, columns, sums);
                },
            );
        }
        #[cfg(target_arch = "x86_64")]
        // SAFETY: a level exists only where the processor has its instructions.
        Kind::Avx2 => unsafe { int8_avx2(codes, matrix, &mut output) },
        #[cfg(target_arch = "x86_64")]
        // SAFETY: as above.
        Kind::Avx512Vnni => unsafe { int8_avx512(codes, matrix, &mut output) },
    }
}

/// Multiplies rows with a matrix.
///
/// # Panics
/// If `x` is no whole number of rows, or the output has too little room.
pub(crate) fn product_f32(level: Level, x: &[f32], matrix: &PackedF32, mut output: Output<'_>) {
    let inputs = matrix.inputs;
    assert!(x.len().is_multiple_of(inputs), "rows are whole");
    assert_eq!(matrix.panels.len(), matrix.outputs.div_ceil(PANEL) * inputs * PANEL, "panels are whole");
    output.check(x.len() / inputs, matrix.outputs);
    match level.kind() {
        Kind::Portable => {
            let tile = |count: usize, first: usize, panel: usize, sums: &mut Tile<f32>| {
                let x_from = &x[first * inputs..];
                let panel = &matrix.panels[panel * inputs * PANEL..][..inputs * PANEL];
                by_rows!(count, portable, tile_f32, x_from, inputs, panel, sums);
            };
            run(
                TILE_ROWS,
                x.len() / inputs,
                1,
                matrix.outputs,
                &mut output,
                tile,
                |output, row, panel, columns, sums| {
                    output.write(row, panel, columns, &sums[0], |sum, _| sum);
                },
            );
        }
        #[cfg(target_arch = "x86_64")]
        // SAFETY: a level exists only where the processor has its instructions.
        Kind::Avx2 => unsafe { f32_avx2(x, matrix, &mut output) },
        #[cfg(target_arch = "x86_64")]
        // SAFETY: as above.
        Kind::Avx512Vnni => unsafe { f32_avx512(x, matrix, &mut output) },
    }
}

/// Sums of a tile of rows of codes and rows of a table: up to sixteen, row by row of the codes.
type Sums = [i32; 16];

/// Multiplies four, two or one rows at a time with as many rows of a table as make sixteen sums; `out` is
/// `[rows, candidates]`. `tile` gets the first row of codes, their number, and the rows of the table.
#[inline(always)]
fn run_candidates(
    codes: &Codes,
    (from, to): (usize, usize),
    table: &Table8,
    candidates: &[u16],
    out: &mut [f32],
    tile: impl Fn(usize, usize, &[u16], &mut Sums),
) {
    let mut sums = [0; 16];
    let mut row = from;
    while row < to {
        let count = match to - row {
            1 => 1,
            2 | 3 => 2,
            _ => 4,
        };
        for (part, some) in candidates.chunks(16 / count).enumerate() {
            tile(row, count, some, &mut sums);
            for (i, sums) in sums.chunks_exact(16 / count).enumerate() {
                let (step, least) = codes.ranges[row + i];
                let place = (row + i - from) * candidates.len() + part * (16 / count);
                for ((out, &candidate), &sum) in out[place..].iter_mut().zip(some).zip(sums) {
                    let candidate = usize::from(candidate);
                    *out = sum as f32 * step * table.scales[candidate] + least * table.offsets[candidate];
                }
            }
        }
        row += count;
    }
}

/// A tile sum by sum.
#[inline(always)]
fn tile_by_dots(
    codes: &Codes,
    table: &Table8,
    (first, count): (usize, usize),
    some: &[u16],
    sums: &mut Sums,
    dot: impl Fn(&[u8], &[i8]) -> i32,
) {
    for (i, sums) in sums.chunks_exact_mut(16 / count).enumerate() {
        let line = &codes.numbers[(first + i) * codes.stride..][..codes.stride];
        for (sum, &candidate) in sums.iter_mut().zip(some) {
            *sum = dot(line, &table.rows[usize::from(candidate) * table.stride..][..table.stride]);
        }
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
fn candidates_avx2(codes: &Codes, rows: (usize, usize), table: &Table8, candidates: &[u16], out: &mut [f32]) {
    run_candidates(codes, rows, table, candidates, out, |first, count, some, sums| {
        tile_by_dots(codes, table, (first, count), some, sums, |a, b| avx2::dot_int8(a, b));
    });
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vnni")]
fn candidates_avx512(
    codes: &Codes,
    rows: (usize, usize),
    table: &Table8,
    candidates: &[u16],
    out: &mut [f32],
) {
    run_candidates(codes, rows, table, candidates, out, |first, count, some, sums| {
        let codes_from = codes.numbers[first * codes.stride..].as_ptr();
        // What is missing to a whole tile is computed for the first one again, and not read.
        let bytes = |i: usize| {
            let candidate = some.get(i).or(some.first()).map_or(0, |&c| usize::from(c));
            table.rows[candidate * table.stride..].as_ptr()
        };
        let (stride, blocks) = (codes.stride, table.stride / super::STRIDE);
        // SAFETY: `candidates_int8` has checked that all rows of codes and of the table are there.
        *sums = unsafe {
            match count {
                1 => avx512::tile_candidates::<1, 16>(codes_from, stride, std::array::from_fn(bytes), blocks),
                2 => avx512::tile_candidates::<2, 8>(codes_from, stride, std::array::from_fn(bytes), blocks),
                _ => avx512::tile_candidates::<4, 4>(codes_from, stride, std::array::from_fn(bytes), blocks),
            }
        };
    });
}

/// Multiplies the rows of codes from the first of `rows` up to the second with some rows of a table: `out` is
/// `[rows, candidates]`.
///
/// # Panics
/// If rows or candidates are not there, the codes are of another width than the table, or `out` is too short.
pub(crate) fn candidates_int8(
    level: Level,
    codes: &Codes,
    rows: (usize, usize),
    table: &Table8,
    candidates: &[u16],
    out: &mut [f32],
) {
    assert!(rows.0 <= rows.1 && rows.1 <= codes.ranges.len(), "the rows are there");
    assert!(
        codes.bytes == 1 && codes.stride == table.stride && codes.numbers.len() >= rows.1 * codes.stride,
        "widths are alike"
    );
    assert!(candidates.iter().all(|&c| usize::from(c) < table.scales.len()), "the candidates are there");
    assert_eq!(table.rows.len(), table.scales.len() * table.stride, "the table is whole");
    assert!(out.len() >= (rows.1 - rows.0) * candidates.len(), "there is room");
    match level.kind() {
        Kind::Portable => {
            run_candidates(codes, rows, table, candidates, out, |first, count, some, sums| {
                tile_by_dots(codes, table, (first, count), some, sums, portable::dot_int8);
            });
        }
        #[cfg(target_arch = "x86_64")]
        // SAFETY: a level exists only where the processor has its instructions.
        Kind::Avx2 => unsafe { candidates_avx2(codes, rows, table, candidates, out) },
        #[cfg(target_arch = "x86_64")]
        // SAFETY: as above.
        Kind::Avx512Vnni => unsafe { candidates_avx512(codes, rows, table, candidates, out) },
    }
}
