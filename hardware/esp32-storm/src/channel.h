#pragma once

#include <stddef.h>

/// The stored log: rows, each ended by `\n`.
class LogStore {
public:
    virtual size_t size() = 0;
    /// Reads up to `length` bytes from `offset` on; returns how many there were.
    virtual size_t read(size_t offset, char *bytes, size_t length) = 0;
    virtual void append(const char *bytes, size_t length) = 0;

protected:
    ~LogStore() = default;
};

/// Where a channel's bytes go.
class Output {
public:
    /// How many bytes are taken now without waiting.
    virtual size_t room() = 0;
    virtual void write(const char *bytes, size_t length) = 0;

protected:
    ~Output() = default;
};

/// Gives out the log and the live rows over one carrier.
///
/// On a line the log is one stream, behind its prefix, and live rows stand between its rows. In packets (BLE) each live
/// row is a packet, and has no line end.
class Channel {
public:
    enum class Carrier { line, packets };

    /// The longest row, its prefix and its end included.
    static const size_t rowLimit = 80;
    /// Live rows that wait for the end of a row of the log, in bytes.
    static const size_t waitingLimit = 8 * rowLimit;
    /// The most that is read from the store and written at once.
    static const size_t blockLength = 512;

    Channel(LogStore &store, Output &output, Carrier carrier) : _store(store), _output(output), _carrier(carrier) {}

    /// Begins to send the log as it is now. Asked again while it sends, it begins again.
    void sendLog();
    /// Sends a live row, as soon as it may stand where the log is. Where too many wait it is left out: the log has it.
    void sendLive(const char *row);
    /// Sends what there is room for.
    void step();
    /// Forgets what is being sent: nobody listens any more.
    void stop();

private:
    bool isPrefixDue() const { return _prefix[0] != '\0'; }
    void sendWaiting();
    size_t put(const char *prefix, const char *bytes, size_t length);

    LogStore &_store;
    Output &_output;
    Carrier _carrier;
    size_t _offset = 0;
    size_t _end = 0;
    /// What is still to stand before the log; empty once it does.
    const char *_prefix = "";
    bool _atRowEnd = true;
    char _waiting[waitingLimit];
    size_t _waitingLength = 0;
};
