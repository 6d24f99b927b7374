public import DescriptorIO

extension SerialPort {
    /// Returns a channel that reads and writes the port's bytes asynchronously on an event loop.
    ///
    /// The channel owns the port from now on: closing the channel, or losing the device, closes the port at once. To
    /// send queued bytes first, call ``drain(on:within:)``.
    ///
    /// ```swift
    /// let channel = try SerialPort(path: "/dev/ttyUSB0").channel()
    /// try await channel.write(Array("STATUS\n".utf8))
    /// while let bytes = try await channel.read() { … }  // throws `disconnected` when the device is unplugged
    /// ```
    public func channel(on loop: EventLoop = .shared) -> DescriptorChannel {
        DescriptorChannel(taking: descriptor, kind: .stream, on: loop) { _ in self.close(drainTimeout: .zero) }
    }

    /// Waits until the driver's output queue is empty, for at most `limit`, without blocking the loop. Unlike
    /// ``drain(deadline:)``, this function does not look at the buffer of the transmitter itself.
    ///
    /// - Parameters:
    ///   - loop: The loop whose timers wake this function.
    ///   - limit: The longest time to wait.
    /// - Returns: The number of bytes still queued at the limit, or when the task was cancelled; 0 if the device is
    ///   gone or the port is closed.
    public func drain(on loop: EventLoop, within limit: Duration) async -> Int {
        let clock = EventLoopClock(loop)
        let deadline = clock.now + limit
        // The same steps as in OutputDrain.
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
    /// Returns a channel that reads and writes the master's bytes asynchronously on an event loop. Closing the channel
    /// closes the pseudo-terminal.
    public func channel(on loop: EventLoop = .shared) -> DescriptorChannel {
        DescriptorChannel(taking: descriptor, kind: .stream, on: loop) { _ in self.close() }
    }
}
