/*
 * A learner that is saved to flash while it learns, loses its power in the middle of a save, goes on from what was saved, and predicts.
 * The readings come from `sensor_start` and `sensor_read`, which the image has.
 */
#include "learner.h"
#include "dpp_nystrom_learner.h"

DPP_NYSTROM_LEARNER(16, 4)

enum { SCALED = 100, OFFERED = 100, LEARNED = 200, BETWEEN = 20, PAGE = 1024, FLASH = 4 * PAGE };

static const float sigma = 6.0f;
static dpp_learner_16x4 device;
static uint8_t room[DPP_NYSTROM_STATE_BYTES(16, 4)];

/* A flash in RAM that can lose its power: what was to be erased or written then holds arbitrary bits. */
static uint8_t memory[FLASH];
static uint32_t power, noise = 1;

static int change(uint32_t offset, const uint8_t *bytes, size_t length)
{
    size_t i;

    for (i = 0; i < length; i++) {
        if (power == 0) {
            noise = noise * 1664525u + 1013904223u;
            memory[offset + i] = (uint8_t)(noise >> 24);
        } else {
            power--;
            memory[offset + i] = bytes == NULL ? 0xffu : bytes[i];
        }
    }
    return power == 0 ? -1 : 0;
}

static int read_flash(void *context, uint32_t offset, uint8_t *bytes, size_t length)
{
    size_t i;

    (void)context;
    for (i = 0; i < length; i++) {
        bytes[i] = memory[offset + i];
    }
    return 0;
}

static int erase_flash(void *context, uint32_t from, uint32_t to)
{
    (void)context;
    return change(from, NULL, to - from);
}

static int write_flash(void *context, uint32_t offset, const uint8_t *bytes, size_t length)
{
    (void)context;
    return change(offset, bytes, length);
}

static const dpp_nystrom_flash flash = {NULL, read_flash, erase_flash, write_flash, 0, FLASH, PAGE};

/* The next reading, into the phase that it belongs to. */
static dpp_nystrom_status step(uint32_t at)
{
    float row[4], target;
    unsigned int changed;
    dpp_nystrom_status status = DPP_NYSTROM_STATUS_OK;

    if (at == SCALED) {
        status = dpp_learner_16x4_freeze_scaling(&device);
    }
    if (at == SCALED + OFFERED) {
        status = dpp_learner_16x4_freeze_landmarks(&device);
    }
    if (status != DPP_NYSTROM_STATUS_OK) {
        return status;
    }
    sensor_read(row, &target);
    if (at < SCALED) {
        return dpp_learner_16x4_scale(&device, row, target);
    }
    if (at < SCALED + OFFERED) {
        return dpp_learner_16x4_offer(&device, row, &changed);
    }
    return dpp_learner_16x4_learn(&device, row, target);
}

/* As after a loss of power: the learner's memory is arbitrary, and the sensor begins again. `at` is set to the readings that are known. */
static dpp_nystrom_status wake(uint32_t *at)
{
    dpp_nystrom_status status;
    uint64_t saves = 0;
    float row[4], target;
    size_t i;

    for (i = 0; i < sizeof device.memory / sizeof device.memory[0]; i++) {
        device.memory[i] = noise;
    }
    status = dpp_learner_16x4_restore(&device, sizeof device, sigma, &flash, room, sizeof room, &saves);
    if (status == DPP_NYSTROM_STATUS_NOTHING_SAVED) {
        status = dpp_learner_16x4_start(&device, sizeof device, sigma, 7);
    }
    *at = (uint32_t)saves * BETWEEN;
    sensor_start();
    for (i = 0; i < *at; i++) {
        sensor_read(row, &target);
    }
    return status;
}

uint32_t learner_run(uint32_t cut_save, uint32_t cut_bytes, float *predictions, uint32_t count)
{
    dpp_nystrom_status status;
    float error, row[4], target;
    uint32_t at, i;

    for (i = 0; i < FLASH; i++) {
        memory[i] = 0;
    }
    status = wake(&at);
    while (status == DPP_NYSTROM_STATUS_OK && at < SCALED + OFFERED + LEARNED) {
        status = step(at);
        at++;
        if (status == DPP_NYSTROM_STATUS_OK && at % BETWEEN == 0) {
            power = cut_save * BETWEEN == at ? cut_bytes : UINT32_MAX;
            status = dpp_learner_16x4_save(&device, &flash, room, sizeof room);
            if (status == DPP_NYSTROM_STATUS_FLASH) {
                power = UINT32_MAX;
                cut_save = 0;
                status = wake(&at);
            }
        }
    }
    if (status == DPP_NYSTROM_STATUS_OK) {
        status = dpp_learner_16x4_solve(&device, 1e-6f, &error);
    }
    for (i = 0; status == DPP_NYSTROM_STATUS_OK && i < count; i++) {
        sensor_read(row, &target);
        status = dpp_learner_16x4_predict(&device, row, &predictions[i]);
    }
    return (uint32_t)status;
}

uint32_t learner_bytes(void)
{
    return (uint32_t)sizeof device;
}

uint32_t learner_state_bytes(void)
{
    return (uint32_t)sizeof room;
}
