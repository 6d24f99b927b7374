#pragma once

#include <stddef.h>

/// The stored log: rows of text, each ended by `\n`.
class LogStore {
public:
    virtual size_t size() = 0;
    /// Reads up to `length` bytes from `offset`; returns the number of bytes read.
    virtual size_t read(size_t offset, char *bytes, size_t length) = 0;
    virtual void append(const char *bytes, size_t length) = 0;

protected:
    ~LogStore() = default;
};

/// A channel's output.
class Output {
public:
    /// The number of bytes that can be written without blocking.
    virtual size_t room() = 0;
    virtual void write(const char *bytes, size_t length) = 0;

protected:
    ~Output() = default;
};

/// Sends the log and the live rows over one carrier.
///
/// On a serial line the log is one stream that starts with its prefix, and live rows stand between its rows. In packets
/// (BLE) each live row is one packet without a line end.
class Channel {
public:
    enum class Carrier { line, packets };

    /// The size of a buffer for a row with its prefix, its line end, and a NUL. It holds rows of up to 67 characters;
    /// `sendLive` drops longer ones, which no sensor's voltage makes.
    static const size_t rowLimit = 80;
    /// The size in bytes of the buffer for live rows that wait for room, or for the end of a log row: eight of the
    /// longest rows.
    static const size_t waitingLimit = 8 * rowLimit;
    /// The maximum number of bytes read from the store and written at a time.
    static const size_t blockLength = 512;

    Channel(LogStore &store, Output &output, Carrier carrier) : _store(store), _output(output), _carrier(carrier) {}

    /// Begins to send the log as it is now. Another call while the log is being sent starts over.
    void sendLog();
    /// Sends a live row as soon as the log in progress allows. Drops the row if it is too long, or the buffer is full.
    void sendLive(const char *row);
    /// Sends as much as the output accepts.
    void step();
    /// Drops everything that is still to be sent.
    void stop();

private:
    bool isPrefixDue() const { return _prefix[0] != '\0'; }
    /// Sends the waiting live rows for which the output has room.
    void sendWaiting();
    size_t put(const char *prefix, const char *bytes, size_t length);

    LogStore &_store;
    Output &_output;
    Carrier _carrier;
    /// The part of the store that is still to be sent as the log: from `_offset` up to `_end`.
    size_t _offset = 0;
    size_t _end = 0;
    /// The prefix still to be sent before the log; empty once sent.
    const char *_prefix = "";
    /// Whether the output stands at the end of a row: a row of the log has just been sent whole, or no log is being
    /// sent.
    bool _atRowEnd = true;
    /// The live rows that wait, each followed by a NUL.
    char _waiting[waitingLimit];
    /// The number of bytes in `_waiting`.
    size_t _waitingLength = 0;
};
