public import DescriptorIO

extension SerialPort {
    /// The port's bytes, read and written asynchronously on an event loop.
    ///
    /// The channel owns the port from now on: closing it, or losing the device, closes the port at once. Let what was
    /// written get out first by ``drain(on:within:)``.
    ///
    /// ```swift
    /// let channel = try SerialPort(path: "/dev/ttyUSB0").channel()
    /// try await channel.write(Array("STATUS\n".utf8))
    /// while let bytes = try await channel.read() { … }  // throws `disconnected` once, when the device is unplugged
    /// ```
    public func channel(on loop: EventLoop = .shared) -> DescriptorChannel {
        DescriptorChannel(taking: descriptor, kind: .stream, on: loop) { _ in self.close(drainTimeout: .zero) }
    }

    /// Waits until what was written has left the computer, for at most `limit`, without holding up the loop.
    ///
    /// - Returns: The number of bytes that have not; 0 where the device is gone.
    public func drain(on loop: EventLoop, within limit: Duration) async -> Int {
        let clock = EventLoopClock(loop)
        let deadline = clock.now + limit
        var step = Duration.milliseconds(1)
        while true {
            let unsent = (try? queuedOutput()) ?? 0
            guard unsent > 0, clock.now < deadline, !Task.isCancelled else { return unsent }
            try? await clock.sleep(until: min(deadline, clock.now + step), tolerance: nil)
            step = min(step * 2, .milliseconds(16))
        }
    }
}

extension PseudoTerminal {
    /// The master's bytes, read and written asynchronously on an event loop; closing the channel closes the terminal.
    public func channel(on loop: EventLoop = .shared) -> DescriptorChannel {
        DescriptorChannel(taking: descriptor, kind: .stream, on: loop) { _ in self.close() }
    }
}
