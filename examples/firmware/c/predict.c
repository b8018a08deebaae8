/*
 * Predicts rows with an exported model: the header MODEL_HEADER, whose names begin with MODEL. Prints a prediction
 * a line, as `dpp-nystrom predict` does.
 */
#include <stdio.h>

#include MODEL_HEADER
#include "rows.h"

#define JOIN(a, b) a##b
#define NAME(a, b) JOIN(a, b)

int main(void)
{
    unsigned row;

    for (row = 0; row < sizeof rows / sizeof rows[0]; row++) {
        printf("%.9g\n", (double)NAME(MODEL, _predict)(rows[row]));
    }
    return 0;
}
