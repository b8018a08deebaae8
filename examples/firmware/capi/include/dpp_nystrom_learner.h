// A learner: regression that learns on the device, one reading at a time, on landmarks that it selects itself.
//
//     #include "dpp_nystrom_learner.h"
//     DPP_NYSTROM_LEARNER(16, 4)      // 16 landmarks of 4 features: the type dpp_learner_16x4 and its functions
//     static dpp_learner_16x4 device; // 3,368 bytes on a 32-bit processor; all the memory there is, but the stack
//
// The library has the functions of the capacities that it was built for: DPP_NYSTROM_LEARNERS="16x4 32x8". A capacity that is missing
// is an error of the linker. README.md beside the library has a program, and what each function refuses.
//
// Rows are D features; a NULL or misaligned pointer, a row that overlaps the learner, a call in the wrong phase and a number that is not
// finite are statuses, and the learner is as before. A learner may be moved only by copying all of its bytes, and is for one thread.

#ifndef DPP_NYSTROM_LEARNER_H
#define DPP_NYSTROM_LEARNER_H

#include "dpp_nystrom.h"

#ifdef __cplusplus
#define DPP_NYSTROM_FUNCTION extern "C"
#else
#define DPP_NYSTROM_FUNCTION extern
#endif

// Bytes of a learner. `start` refuses another size than the library's.
#define DPP_NYSTROM_LEARNER_BYTES(C, D) \
    ((184u + 4u * (2u * (C) * (C) + 12u * (C) + (C) * (D) + 3u * (D)) + sizeof(size_t) * (C) + 7u) / 8u * 8u)

// The most bytes of a learner's state: the room that `save` and `restore` need.
#define DPP_NYSTROM_STATE_BYTES(C, D) (260u + 4u * ((C) * ((C) + 1u) + 4u * (C) + (C) * (D) + 3u * (D)))

// What `phase` returns.
#define DPP_NYSTROM_IDLE 0u       // Not started.
#define DPP_NYSTROM_SCALING 1u    // `scale` measures means and deviations; `freeze_scaling` ends it.
#define DPP_NYSTROM_SELECTING 2u  // `offer` selects landmarks; `freeze_landmarks` ends it.
#define DPP_NYSTROM_LEARNING 3u   // `learn` learns; `solve` makes weights.
#define DPP_NYSTROM_PREDICTING 4u // The same, and there are weights: `predict` works.

// Declare a learner of C landmarks of D features, which must be plain decimal numbers.
#define DPP_NYSTROM_LEARNER(C, D) DPP_NYSTROM_LEARNER_(dpp_learner_##C##x##D, C, D)

#define DPP_NYSTROM_LEARNER_(NAME, C, D)                                                                                      \
    typedef struct {                                                                                                          \
        uint64_t memory[DPP_NYSTROM_LEARNER_BYTES(C, D) / 8u];                                                                \
    } NAME;                                                                                                                   \
    /* Start anew; `size` is sizeof *learner, `sigma` the Gaussian kernel's bandwidth in standard deviations. */              \
    DPP_NYSTROM_FUNCTION dpp_nystrom_status NAME##_start(NAME *learner, size_t size, float sigma, uint64_t seed);             \
    /* Measure the scale of features and target. */                                                                           \
    DPP_NYSTROM_FUNCTION dpp_nystrom_status NAME##_scale(NAME *learner, const float *row, float target);                      \
    DPP_NYSTROM_FUNCTION dpp_nystrom_status NAME##_freeze_scaling(NAME *learner);                                             \
    /* The same, but these `count` features may be constant. */                                                               \
    DPP_NYSTROM_FUNCTION dpp_nystrom_status NAME##_freeze_scaling_allowing(NAME *learner, const size_t *columns, size_t count); \
    /* Offer a row as a landmark; `taken` becomes 1 where it is one now. */                                                   \
    DPP_NYSTROM_FUNCTION dpp_nystrom_status NAME##_offer(NAME *learner, const float *row, unsigned int *taken);               \
    DPP_NYSTROM_FUNCTION dpp_nystrom_status NAME##_freeze_landmarks(NAME *learner);                                           \
    DPP_NYSTROM_FUNCTION dpp_nystrom_status NAME##_learn(NAME *learner, const float *row, float target);                      \
    /* Multiply the weight of all rows learned so far by `lambda`, above 0 and at most 1. */                                  \
    DPP_NYSTROM_FUNCTION dpp_nystrom_status NAME##_forget(NAME *learner, float lambda);                                       \
    /* Offer a row in exchange for a landmark; may be called with each row. `replaced` becomes 1 after an exchange. */        \
    DPP_NYSTROM_FUNCTION dpp_nystrom_status NAME##_exchange(NAME *learner, const float *row, unsigned int *replaced);         \
    /* The regularisation under which the targets learned are most likely. */                                                 \
    DPP_NYSTROM_FUNCTION dpp_nystrom_status NAME##_choose_gamma(NAME *learner, float *gamma);                                 \
    /* Compute the weights. `error` becomes the root mean square error on the rows learned, in the target's units. */         \
    DPP_NYSTROM_FUNCTION dpp_nystrom_status NAME##_solve(NAME *learner, float gamma, float *error);                           \
    DPP_NYSTROM_FUNCTION dpp_nystrom_status NAME##_predict(NAME *learner, const float *row, float *value);                    \
    /* What the landmarks do not explain of a row: 0 for a landmark, 1 far from all. Needs no solution. */                    \
    DPP_NYSTROM_FUNCTION dpp_nystrom_status NAME##_residual(NAME *learner, const float *row, float *residual);                \
    /* Predict, with distance, residual and variance. */                                                                      \
    DPP_NYSTROM_FUNCTION dpp_nystrom_status NAME##_assess(NAME *learner, const float *row, dpp_nystrom_assessment *to);       \
    /* Write the state to `length` bytes; `written` becomes their number. */                                                  \
    DPP_NYSTROM_FUNCTION dpp_nystrom_status NAME##_write_state(NAME *learner, uint8_t *bytes, size_t length, size_t *written); \
    /* Go on from a state, as the learner that wrote it. The learner need not be started. */                                  \
    DPP_NYSTROM_FUNCTION dpp_nystrom_status NAME##_read_state(NAME *learner, size_t size, float sigma, const uint8_t *bytes,  \
                                                              size_t length);                                                 \
    /* Save to flash. A loss of power at any time leaves this save or the one before. `room` is scratch. */                   \
    DPP_NYSTROM_FUNCTION dpp_nystrom_status NAME##_save(NAME *learner, const dpp_nystrom_flash *flash, uint8_t *room,         \
                                                        size_t length);                                                       \
    /* Go on from the newest save; `saves` becomes how many there were. The learner need not be started. */                   \
    DPP_NYSTROM_FUNCTION dpp_nystrom_status NAME##_restore(NAME *learner, size_t size, float sigma,                           \
                                                           const dpp_nystrom_flash *flash, uint8_t *room, size_t length,      \
                                                           uint64_t *saves);                                                  \
    /* 0 for memory that is no learner. */                                                                                    \
    DPP_NYSTROM_FUNCTION unsigned int NAME##_phase(const NAME *learner);                                                      \
    DPP_NYSTROM_FUNCTION size_t NAME##_landmarks(const NAME *learner);                                                        \
    /* Rows learned. */                                                                                                       \
    DPP_NYSTROM_FUNCTION uint64_t NAME##_learned(const NAME *learner);                                                        \
    /* The feature that the last error is of, D for the target, UINT32_MAX for none. */                                       \
    DPP_NYSTROM_FUNCTION uint32_t NAME##_error_column(const NAME *learner);

#endif  // DPP_NYSTROM_LEARNER_H
