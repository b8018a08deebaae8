/*
 * Selects landmarks, learns and predicts through the C interface of the core, on buffers of its own. Prints the
 * landmarks, and the bits of the weights and of some predictions: the same on a device and on a desktop.
 */
#include <stdio.h>
#include <string.h>

#include "dpp_nystrom.h"

enum { ROWS = 200, DIM = 4, LANDMARKS = 16, TRIES = 2000 };

static float rows[ROWS * DIM];
static float targets[ROWS];
static float memory[DPP_NYSTROM_LEARN_NUMBERS(LANDMARKS)];
static size_t landmarks[LANDMARKS], indices[LANDMARKS];
static float weights[LANDMARKS], chosen[LANDMARKS * DIM];

/* Uniform numbers from a linear congruential generator, exact in single precision, and a function of them. */
static void make_rows(void)
{
    uint32_t state = 1;
    int i;

    for (i = 0; i < ROWS * DIM; i++) {
        state = state * 1664525u + 1013904223u;
        rows[i] = (float)(state >> 8) / 16777216.0f;
    }
    for (i = 0; i < ROWS; i++) {
        const float *x = rows + DIM * i;
        targets[i] = x[0] * x[1] - x[2] * x[2] + x[3] - 0.5f;
    }
}

static unsigned long bits(float value)
{
    uint32_t word;
    memcpy(&word, &value, sizeof word);
    return (unsigned long)word;
}

static int failures = 0;

/* Compare a status with the expected one. */
static void expect(const char *what, dpp_nystrom_status found, dpp_nystrom_status expected)
{
    printf("%s: %s\n", what, dpp_nystrom_status_name(found));
    if (found != expected) {
        printf("expected %s\n", dpp_nystrom_status_name(expected));
        failures++;
    }
}

int main(void)
{
    const float sigma = 0.7f;
    const size_t numbers = sizeof memory / sizeof memory[0];
    float error = 0.0f;
    int i;

    make_rows();
    expect("select",
           dpp_nystrom_select(rows, ROWS, DIM, sigma, LANDMARKS, TRIES, 7, memory, numbers, landmarks),
           DPP_NYSTROM_STATUS_OK);
    printf("landmarks:");
    for (i = 0; i < LANDMARKS; i++) {
        printf(" %lu", (unsigned long)landmarks[i]);
    }
    printf("\n");

    expect("learn",
           dpp_nystrom_learn(rows, targets, ROWS, DIM, sigma, 1e-6f, landmarks, LANDMARKS, memory, numbers,
                             indices, weights, &error),
           DPP_NYSTROM_STATUS_OK);
    printf("weights:");
    for (i = 0; i < LANDMARKS; i++) {
        printf(" %08lx", bits(weights[i]));
    }
    printf("\nmean squared error: %08lx\n", bits(error));
    /* The mean squared error of the best constant is 0.21. */
    if (!(error < 0.01f)) {
        failures++;
    }

    expect("gather", dpp_nystrom_gather(rows, ROWS, DIM, landmarks, LANDMARKS, chosen), DPP_NYSTROM_STATUS_OK);
    printf("predictions:");
    for (i = 0; i < ROWS; i += 25) {
        float y = 0.0f;
        if (dpp_nystrom_predict(chosen, weights, LANDMARKS, DIM, sigma, rows + DIM * i, &y) !=
            DPP_NYSTROM_STATUS_OK) {
            failures++;
        }
        printf(" %08lx", bits(y));
    }
    printf("\n");

    expect("no rows",
           dpp_nystrom_select(NULL, ROWS, DIM, sigma, LANDMARKS, TRIES, 7, memory, numbers, landmarks),
           DPP_NYSTROM_STATUS_NULL);
    expect("rows between two numbers",
           dpp_nystrom_select((const float *)((uintptr_t)rows + 1), ROWS - 1, DIM, sigma, LANDMARKS, TRIES, 7,
                              memory, numbers, landmarks),
           DPP_NYSTROM_STATUS_MISALIGNED);
    expect("memory for fewer",
           dpp_nystrom_select(rows, ROWS, DIM, sigma, LANDMARKS, TRIES, 7, memory,
                              DPP_NYSTROM_SELECT_NUMBERS(LANDMARKS) - 1, landmarks),
           DPP_NYSTROM_STATUS_TOO_SMALL);
    expect("memory among the rows",
           dpp_nystrom_select(rows, ROWS, DIM, sigma, LANDMARKS, TRIES, 7, rows,
                              DPP_NYSTROM_SELECT_NUMBERS(LANDMARKS), landmarks),
           DPP_NYSTROM_STATUS_OVERLAP);
    expect("a negative bandwidth",
           dpp_nystrom_select(rows, ROWS, DIM, -sigma, LANDMARKS, TRIES, 7, memory, numbers, landmarks),
           DPP_NYSTROM_STATUS_BANDWIDTH);
    return failures == 0 ? 0 : 1;
}
