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
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum dpp_nystrom_status dpp_nystrom_status;
#else
typedef uint32_t dpp_nystrom_status;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

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
