import Glibc

extension SerialPort {
    /// Reads the available bytes, as many as fit in the buffer, without waiting.
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
        // With VMIN 1 a terminal returns 0 only if it is gone; treating 0 as "no data yet" gives a loop that burns a
        // core (espmonitor#12, defmt#1095). But on a shared port another program, such as pyserial, may have set VMIN
        // to 0. poll(2) distinguishes the two cases.
        case .success(.bytes(0)):
            guard isHungUp(descriptor, within: 0) else { return .wouldBlock }
            throw SerialError(errno: EIO, activity: activity, path: path)
        case .success(let moved): return moved
        case .failure(let failure): throw SerialError(errno: failure.errno, activity: activity, path: path)
        }
    }

    /// Writes as many bytes as the driver accepts, without waiting. The caller keeps the rest.
    ///
    /// - Throws: ``SerialError``, as ``read(into:)`` does.
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

/// Waits until a terminal hangs up. Returns false if the time passes first.
func isHungUp(_ descriptor: CInt, within milliseconds: CInt) -> Bool {
    var entry = pollfd(fd: descriptor, events: 0, revents: 0)
    return poll(&entry, 1, milliseconds) > 0 && entry.revents != 0
}
