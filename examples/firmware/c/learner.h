#ifndef LEARNER_H
#define LEARNER_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Begin the readings again, and take the next. */
void sensor_start(void);
void sensor_read(float *row, float *target);

/*
 * Learn and predict `count` readings, with a loss of power in the save of this number, from 1, after so many bytes of the flash were
 * changed; 0: none. Return a status.
 */
uint32_t learner_run(uint32_t cut_save, uint32_t cut_bytes, float *predictions, uint32_t count);

/* Bytes of the learner, and of the room to save it. */
uint32_t learner_bytes(void);
uint32_t learner_state_bytes(void);

#ifdef __cplusplus
}
#endif

#endif
