
#include <eml_net.h>
static const float mynet_layer_0_biases[8] = { 3.120233f, -29.278043f, -10.037524f, -3.335937f, -20.086738f, 28.546268f, -8.359669f, 27.390562f };
static const float mynet_layer_0_weights[64] = { 0.066123f, -0.343772f, -0.107051f, -0.062301f, -0.147944f, 0.319797f, -0.113331f, 0.212439f, 0.176842f, -0.378406f, -0.071669f, -0.115798f, 0.128355f, 0.300902f, -0.097866f, -0.072102f, -0.031324f, 0.022242f, 0.019879f, -0.000067f, -0.022495f, 0.010422f, -0.003310f, 0.014185f, 0.000170f, 0.000251f, -0.000167f, 0.000216f, 0.000090f, 0.000201f, -0.000147f, 0.000339f, 0.000050f, 0.001140f, 0.000374f, 0.000747f, -0.000643f, -0.001303f, 0.000284f, -0.000068f, -0.000403f, -0.000816f, -0.000741f, -0.000661f, -0.000327f, 0.000120f, -0.000193f, -0.000048f, -0.000908f, 0.000361f, 0.001421f, 0.000356f, 0.001201f, -0.000583f, -0.001735f, -0.000678f, 0.003219f, 0.233624f, 0.026590f, -0.203927f, -0.266450f, -0.153529f, 0.055069f, -0.148492f };
static const float mynet_layer_1_biases[1] = { 0.062498f };
static const float mynet_layer_1_weights[8] = { 0.488576f, 0.921080f, 0.527605f, -0.925832f, -0.376012f, -0.893092f, -0.093923f, -0.390948f };
static float mynet_buf1[8];
static float mynet_buf2[8];
static const EmlNetLayer mynet_layers[2] = { 
{ 8, 8, mynet_layer_0_weights, mynet_layer_0_biases, EmlNetActivationRelu }, 
{ 1, 8, mynet_layer_1_weights, mynet_layer_1_biases, EmlNetActivationIdentity } };
static EmlNet mynet = { 2, mynet_layers, mynet_buf1, mynet_buf2, 8 };

    int32_t
    mynet_predict(const float *features, int32_t n_features)
    {
        return eml_net_predict(&mynet, features, n_features);
    }
    

    int32_t
    mynet_regress(const float *features, int32_t n_features, float *out, int32_t out_length)
    {
        return eml_net_regress(&mynet, features, n_features, out, out_length);
    }
    

    float
    mynet_regress1(const float *features, int32_t n_features)
    {
        return eml_net_regress1(&mynet, features, n_features);
    }
    