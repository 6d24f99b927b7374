#include "channel.h"

#include <stdio.h>
#include <string.h>

const size_t Channel::rowLimit;
const size_t Channel::waitingLimit;
const size_t Channel::blockLength;

namespace {

const char logPrefix[] = "LOG Values: ";
const char logPrefixOnNewLine[] = "\r\nLOG Values: ";
const char livePrefix[] = "LIVE LOG: ";

}

void Channel::sendLog() {
    // On a serial line the prefix must begin a line.
    bool withinRow = _carrier == Carrier::line && !_atRowEnd;
    _prefix = withinRow ? logPrefixOnNewLine : logPrefix;
    _offset = 0;
    _end = _store.size();
}

void Channel::sendLive(const char *row) {
    char text[rowLimit];
    const char *end = _carrier == Carrier::line ? "\r\n" : "";
    int length = snprintf(text, sizeof text, "%s%s%s", livePrefix, row, end);
    // Each row keeps its terminating NUL, which separates it from the next.
    if (length < 0 || size_t(length) >= sizeof text || _waitingLength + length + 1 > waitingLimit) {
        return;
    }
    memcpy(_waiting + _waitingLength, text, length + 1);
    _waitingLength += length + 1;
}

void Channel::step() {
    if (isPrefixDue()) {
        if (_offset == _end) {
            const char *end = _carrier == Carrier::line ? "\r\n" : "";
            if (put(_prefix, end, strlen(end)) == 0) {
                return;
            }
            _prefix = "";
        }
    } else if (_atRowEnd || _carrier == Carrier::packets) {
        sendWaiting();
    }
    while (_offset < _end) {
        size_t room = _output.room();
        if (room <= strlen(_prefix)) {
            return;
        }
        char block[blockLength];
        size_t length = room - strlen(_prefix);
        length = length < sizeof block ? length : sizeof block;
        length = length < _end - _offset ? length : _end - _offset;
        length = _store.read(_offset, block, length);
        if (length == 0) {
            // The store holds less than it reported, or can't be read.
            stop();
            return;
        }
        if (_waitingLength > 0 && _carrier == Carrier::line) {
            // Stop at the end of this row, so that the waiting live rows can follow it.
            const char *end = static_cast<const char *>(memchr(block, '\n', length));
            if (end != nullptr) {
                length = size_t(end - block) + 1;
            }
        }
        put(_prefix, block, length);
        _prefix = "";
        _offset += length;
        _atRowEnd = block[length - 1] == '\n';
        if (_atRowEnd || _carrier == Carrier::packets) {
            sendWaiting();
        }
    }
    _atRowEnd = true;
}

void Channel::stop() {
    _offset = _end = 0;
    _prefix = "";
    _atRowEnd = true;
    _waitingLength = 0;
}

void Channel::sendWaiting() {
    while (_waitingLength > 0) {
        size_t length = strlen(_waiting);
        size_t room = _output.room();
        if (room >= length) {
            _output.write(_waiting, length);
        } else if (_carrier == Carrier::line || room == 0) {
            return;
        }
        // Remove the row: it was sent, or it is too long for a packet and is dropped. The log still has a dropped row,
        // unless the flash is unusable.
        _waitingLength -= length + 1;
        memmove(_waiting, _waiting + length + 1, _waitingLength);
    }
}

/// Writes prefix and bytes in one call of `Output::write`, because each call sends a packet over BLE. Returns the
/// number of bytes written; 0, without writing, if there is not enough room for all.
size_t Channel::put(const char *prefix, const char *bytes, size_t length) {
    char piece[blockLength + sizeof logPrefixOnNewLine];
    size_t prefixLength = strlen(prefix);
    if (_output.room() < prefixLength + length) {
        return 0;
    }
    memcpy(piece, prefix, prefixLength);
    memcpy(piece + prefixLength, bytes, length);
    _output.write(piece, prefixLength + length);
    return prefixLength + length;
}
