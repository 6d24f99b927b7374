#include "safety.h"

#include "thermistor.h"

namespace {

/// The score at which a fault is established: that of three bad readings in a row. If good readings come in between, as
/// with a loose contact, but more than one in three is bad, it takes longer to reach this score.
const uint8_t enough = 6;

}

Finding Safety::take(uint16_t water, uint16_t skin) {
    Finding finding = judge(water, skin);
    if (_policy == Policy::field) {
        return finding;
    }
    if (finding == Finding::nothing) {
        _score -= _score > 0;
        return finding;
    }
    _score = _score + 2 < enough ? _score + 2 : enough;
    return _score == enough ? finding : Finding::nothing;
}

Finding Safety::judge(uint16_t water, uint16_t skin) const {
    if (_policy == Policy::safe) {
        if (thermistorBroken(skin)) {
            return Finding::skinBroken;
        }
        if (_hasWater && thermistorBroken(water)) {
            return Finding::waterBroken;
        }
    }
    float celsius = thermistorCelsius(skin);
    // With the field's policy, an open thermistor and a complete short circuit read as very cold, not above the limit.
    if (celsius > _limits.highest) {
        return Finding::skinTooHot;
    }
    if (_policy == Policy::safe && !(celsius >= _limits.lowest)) {
        return Finding::skinTooCold;
    }
    return Finding::nothing;
}
