import Glibc

extension SerialPort {
    /// Reads what is there, as much as the buffer takes, without waiting.
    ///
    /// - Throws: ``SerialError`` with ``SerialError/Code/disconnected``, ``SerialError/Code/closed`` or
    ///   ``SerialError/Code/system``.
    public func read(into buffer: inout MutableRawSpan) throws(SerialError) -> TransferResult {
        let activity = "reading from"
        let descriptor = try borrow(activity)
        defer { shared.giveBack() }
        guard !buffer.isEmpty else { return .bytes(0) }
        let result = buffer.withUnsafeMutableBytes { bytes in
            TransferResult.of { Glibc.read(descriptor, bytes.baseAddress, bytes.count) }
        }
        switch result {
        // With VMIN 1 a terminal has no other reason to return 0 than that it is gone; taken for "no data yet" it is a
        // loop that burns a core (espmonitor#12, defmt#1095). But on a shared port another program may have set VMIN
        // to 0, as pyserial does, and then poll tells the two apart.
        case .success(.bytes(0)):
            guard isHungUp(descriptor, within: 0) else { return .wouldBlock }
            throw SerialError(errno: EIO, activity: activity, path: path)
        case .success(let moved): return moved
        case .failure(let failure): throw SerialError(errno: failure.errno, activity: activity, path: path)
        }
    }

    /// Writes as much as the driver takes, without waiting. The bytes that it did not take remain the caller's.
    ///
    /// - Throws: As ``read(into:)``.
    public func write(_ bytes: RawSpan) throws(SerialError) -> TransferResult {
        let activity = "writing to"
        let descriptor = try borrow(activity)
        defer { shared.giveBack() }
        guard !bytes.isEmpty else { return .bytes(0) }
        let result = bytes.withUnsafeBytes { bytes in
            TransferResult.of { Glibc.write(descriptor, bytes.baseAddress, bytes.count) }
        }
        switch result {
        case .success(.bytes(0)): return .wouldBlock
        case .success(let moved): return moved
        case .failure(let failure): throw SerialError(errno: failure.errno, activity: activity, path: path)
        }
    }
}

/// Waits for a terminal to hang up, and for nothing else. False when the time passed.
func isHungUp(_ descriptor: CInt, within milliseconds: CInt) -> Bool {
    var entry = pollfd(fd: descriptor, events: 0, revents: 0)
    return poll(&entry, 1, milliseconds) > 0 && entry.revents != 0
}
