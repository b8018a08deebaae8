// Landmarks, ridge regression and predictions on the caller's own buffers. Written by cbindgen: do not edit.

#ifndef DPP_NYSTROM_H
#define DPP_NYSTROM_H

#include <stddef.h>
#include <stdint.h>

// Numbers that selecting c landmarks works on.
#define DPP_NYSTROM_SELECT_NUMBERS(c) ((size_t)(c) * (c) + 3 * (size_t)(c))
// Numbers that learning on them works on.
#define DPP_NYSTROM_LEARN_NUMBERS(c) (3 * (size_t)(c) * (c) + 10 * (size_t)(c))

// The status of a call: 0, or the error.
enum dpp_nystrom_status
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
  // Success.
  DPP_NYSTROM_STATUS_OK = 0,
  // A null pointer.
  DPP_NYSTROM_STATUS_NULL = 1,
  // A pointer that is not aligned to its elements.
  DPP_NYSTROM_STATUS_MISALIGNED = 2,
  // A length whose bytes exceed the address space, or more rows than 32 bits can count.
  DPP_NYSTROM_STATUS_TOO_LARGE = 3,
  // A written buffer overlaps another.
  DPP_NYSTROM_STATUS_OVERLAP = 4,
  // No rows, no features or no landmarks.
  DPP_NYSTROM_STATUS_EMPTY = 5,
  // The memory is smaller than the macros require.
  DPP_NYSTROM_STATUS_TOO_SMALL = 6,
  // Inconsistent lengths.
  DPP_NYSTROM_STATUS_LENGTH = 7,
  // More landmarks than rows.
  DPP_NYSTROM_STATUS_TOO_MANY_LANDMARKS = 8,
  // A landmark that is not the number of a row.
  DPP_NYSTROM_STATUS_OUT_OF_RANGE = 9,
  // A row that occurs twice among the landmarks.
  DPP_NYSTROM_STATUS_DUPLICATE = 10,
  // A feature or a target that is NaN or infinite.
  DPP_NYSTROM_STATUS_NOT_FINITE = 11,
  // Landmarks that depend on each other under this kernel: use fewer, or a smaller bandwidth.
  DPP_NYSTROM_STATUS_DEPENDENT = 12,
  // A bandwidth that is not positive and finite, or too extreme.
  DPP_NYSTROM_STATUS_BANDWIDTH = 13,
  // A regularisation that is negative or not finite.
  DPP_NYSTROM_STATUS_RIDGE = 14,
  // Another error.
  DPP_NYSTROM_STATUS_REFUSED = 15,
  // A learner whose memory was not started: `start`, or `restore`, comes first.
  DPP_NYSTROM_STATUS_NOT_STARTED = 16,
  // A size that is not that of this learner: header and library are of different versions or compilers.
  DPP_NYSTROM_STATUS_OTHER_SIZE = 17,
  // A call that is not possible yet, or no longer: `phase` tells the present one.
  DPP_NYSTROM_STATUS_PHASE = 18,
  // A feature, or the target after the features, that did not vary while the scaling was measured: is the
  // sensor stuck? `error_column` tells which.
  DPP_NYSTROM_STATUS_CONSTANT = 19,
  // A feature that was constant has another value; the row is not learned. `error_column` tells which.
  DPP_NYSTROM_STATUS_CHANGED = 20,
  // No further rows: 2^35 effective rows were learned. Forgetting makes room.
  DPP_NYSTROM_STATUS_FULL = 21,
  // A factor of forgetting that is not above 0 and at most 1.
  DPP_NYSTROM_STATUS_FORGETTING = 22,
  // Forgetting would leave less than 1/16 of a row: learn rows first.
  DPP_NYSTROM_STATUS_FORGOTTEN = 23,
  // Bytes that are not a state of this learner: damaged, cut off, or of other capacities.
  DPP_NYSTROM_STATUS_STATE = 24,
  // A state that was saved under another bandwidth.
  DPP_NYSTROM_STATUS_FOREIGN_STATE = 25,
  // Nothing was saved yet.
  DPP_NYSTROM_STATUS_NOTHING_SAVED = 26,
  // A function of the flash returned an error. What was saved before is still there.
  DPP_NYSTROM_STATUS_FLASH = 27,
  // A region of the flash that is not two halves of whole pages, or pages that are not multiples of 32
  // bytes.
  DPP_NYSTROM_STATUS_REGION = 28,
  // The flash does not hold what was written: it is worn out or protected.
  DPP_NYSTROM_STATUS_WORN = 29,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum dpp_nystrom_status dpp_nystrom_status;
#else
typedef uint32_t dpp_nystrom_status;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

// A region of a NOR flash in which a learner is saved, twice in turn. The functions return 0, or the
// driver's error. Offsets are what `start` counts in.
//
// A word that cannot be read, as on flash with ECC after an interrupted write, is an error of `read`, and
// not a fault. The other half is then used if it is whole; if neither is, the status is FLASH until the
// region is erased.
typedef struct dpp_nystrom_flash {
  // Passed to each function.
  void *context;
  // Read `length` bytes at an offset.
  int (*read)(void*, uint32_t, uint8_t*, size_t);
  // Erase whole pages, from an offset up to another.
  int (*erase)(void*, uint32_t, uint32_t);
  // Write `length` bytes, a multiple of 32, at an offset that is one too.
  int (*write)(void*, uint32_t, const uint8_t*, size_t);
  // The first byte of the region.
  uint32_t start;
  // Bytes of the region: two halves of whole pages.
  uint32_t length;
  // Bytes of a page, the unit of erasing: a multiple of 32.
  uint32_t page;
} dpp_nystrom_flash;

// How far a prediction can be relied on.
typedef struct dpp_nystrom_assessment {
  // The prediction, in the target's units.
  float value;
  // The distance to the nearest landmark, in standard deviations of the features.
  float nearest;
  // What the landmarks do not explain of the row: 0 for a landmark, 1 far from all of them.
  float residual;
  // The variance of a new observation, in the target's units squared; negative: there is none until the
  // next solution.
  float variance;
} dpp_nystrom_assessment;

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

// Select `c` landmarks among `n` rows of `d` features, under the kernel `exp(-|x - y|^2 / (2 sigma^2))`: a
// uniform start and `tries` tries of the open-slot chain, whose stationary law is the c-DPP. A seed gives
// the same landmarks on every target.
//
// `memory` needs `DPP_NYSTROM_SELECT_NUMBERS(c)` numbers. The row numbers of the landmarks are written to
// `landmarks`, which needs `c` elements.
//
// # Safety
// The pointers must be valid for these lengths, and nothing else may write to the buffers during the call.
dpp_nystrom_status dpp_nystrom_select(const float *rows,
                                      size_t n,
                                      size_t d,
                                      float sigma,
                                      size_t c,
                                      uint64_t tries,
                                      uint64_t seed,
                                      float *memory,
                                      size_t memory_length,
                                      size_t *landmarks);

// Learn a weight for each of `c` landmarks, which are rows, from the targets of all `n` rows: kernel ridge
// regression on the landmarks, with the regularisation `ridge` multiplied by `n`.
//
// `memory` needs `DPP_NYSTROM_LEARN_NUMBERS(c)` numbers and `indices` needs `c`; both are scratch. The
// weights are written to `weights`, which needs `c` elements, and the mean squared error on the rows to
// `error`.
//
// # Safety
// The pointers must be valid for these lengths, and nothing else may write to the buffers during the call.
dpp_nystrom_status dpp_nystrom_learn(const float *rows,
                                     const float *targets,
                                     size_t n,
                                     size_t d,
                                     float sigma,
                                     float ridge,
                                     const size_t *landmarks,
                                     size_t c,
                                     float *memory,
                                     size_t memory_length,
                                     size_t *indices,
                                     float *weights,
                                     float *error);

// Copy the landmarks' rows, one after the other, to `out`, which needs `c` rows of `d` features.
//
// # Safety
// The pointers must be valid for these lengths, and nothing else may write to the buffers during the call.
dpp_nystrom_status dpp_nystrom_gather(const float *rows,
                                      size_t n,
                                      size_t d,
                                      const size_t *landmarks,
                                      size_t c,
                                      float *out);

// Predict one row `x` of `d` features from the landmarks' rows and their weights. The prediction is written
// to `y`.
//
// # Safety
// The pointers must be valid for these lengths, and nothing else may write to the buffers during the call.
dpp_nystrom_status dpp_nystrom_predict(const float *landmark_rows,
                                       const float *weights,
                                       size_t c,
                                       size_t d,
                                       float sigma,
                                       const float *x,
                                       float *y);

// Return the name of a status, such as `"MISALIGNED"`, for a log. Never null; for any other number it is
// `"UNKNOWN"`.
const char *dpp_nystrom_status_name(uint32_t status);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* DPP_NYSTROM_H */
