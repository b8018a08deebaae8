/*
 * Classifies rows with an exported header, which MODEL_HEADER names with its prefix MODEL, and compares the classes and the bits of the
 * margins with those of CASES.
 */
#include <stdio.h>
#include <string.h>
#include MODEL_HEADER

#define JOIN(prefix, suffix) prefix##suffix
#define FUNCTION(prefix, suffix) JOIN(prefix, suffix)

static const struct {
    float row[FEATURES];
    int class_;
    uint32_t margin;
} cases[] = {
#include CASES
};

int main(void)
{
    const float nan = (float)strlen("") / (float)strlen("");
    float outputs[OUTPUTS], margin = 0.0f, row[FEATURES] = {0.0f};
    uint32_t bits;
    unsigned int i;

    for (i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const int found = FUNCTION(MODEL, _classify)(cases[i].row, outputs, &margin);
        memcpy(&bits, &margin, sizeof bits);
        if (found != cases[i].class_ || bits != cases[i].margin) {
            printf("row %u: class %d, expected %d\n", i, found, cases[i].class_);
            return 1;
        }
    }
    row[0] = nan;
    return FUNCTION(MODEL, _classify)(row, outputs, &margin) == -1 ? 0 : 1;
}
