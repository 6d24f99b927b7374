// Empty ICU data, as in ICU's own "stubdata", for a program that needs no locale.
//
// Foundation, which GRDB imports, brings 34 MB of names of languages, time zones and currencies, in an object of an
// archive. The linker takes this symbol instead, since it comes first. A debug build has the data in a shared library.
// A later version of ICU names the symbol differently; scripts/counts then reports that the programs have grown.
#ifdef STATIC_RELEASE
#include <stdint.h>

__attribute__((visibility("hidden"), aligned(16))) const struct {
    uint16_t headerSize;
    uint8_t magic[2];
    uint16_t infoSize, reserved;
    uint8_t isBigEndian, charset, characterSize, padding, format[4], formatVersion[4], dataVersion[4];
    uint8_t headerPadding[8];
    uint32_t entryCount, endOfEntries[5];
} icudt76_dat = {
    32, {0xDA, 0x27}, 20, 0, __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__, 0, 2, 0, {'T', 'o', 'C', 'P'}, {1}, {0}, {0}, 0, {0},
};
#endif
