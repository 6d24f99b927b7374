internal import DescriptorIO
public import LineProtocol
internal import Synchronization

extension ScriptedLink {
    public func packetCapacity() async -> Int? { capacity }

    public func confirmConnection() async throws(LinkError) {
        let handler = state.withLock { $0.onConfirmation }
        if let error = await handler?() { throw error }
    }

    public func send(_ bytes: [UInt8]) async throws(LinkError) {
        let text = String(decoding: bytes, as: UTF8.self)
        try letOut(text)
        if let answer = answer?(text) { arrive(.bytes(Array(answer.utf8))) }
        guard state.withLock({ $0.holdsSends }) else { return }
        if let failure = await holdSend() { throw failure }
    }

    public func sendAtOnce(_ bytes: [UInt8]) throws(LinkError) -> Bool {
        precondition(loop.isCurrent, "sendAtOnce is called on the link's executor")
        guard takesAtOnce, !state.withLock({ $0.holdsSends }) else { return false }
        let text = String(decoding: bytes, as: UTF8.self)
        try letOut(text)
        if let answer = answer?(text) { loop.execute { self.arrive(.bytes(Array(answer.utf8))) } }
        return true
    }

    /// Hands a sent text to the waiting ``nextSent()``, or keeps it for the next call. Throws if sends fail or the link
    /// has ended.
    private func letOut(_ text: String) throws(LinkError) {
        let (failure, observer): (LinkError?, UnsafeContinuation<String, Never>?) = state.withLock { state in
            if let failure = state.sendFailure { return (failure, nil) }
            if case .ended(let error) = state.end {
                return (error ?? LinkError(.closed, name: name, activity: "send"), nil)
            }
            defer { state.sentObserver = nil }
            if state.sentObserver == nil { state.sent.append(text) }
            return (nil, state.sentObserver)
        }
        if let failure { throw failure }
        observer?.resume(returning: text)
    }

    public func receive() async throws(LinkError) -> [UInt8]? {
        let id = state.withLock { state in
            state.lastID += 1
            return state.lastID
        }
        return try await withTaskCancellationHandler {
            await withUnsafeContinuation { continuation in
                let result: Result<[UInt8]?, LinkError>? = state.withLock { state in
                    if !state.arrived.isEmpty { return .success(state.arrived.removeFirst()) }
                    if case .ended(let error) = state.end { return error.map { .failure($0) } ?? .success(nil) }
                    if Task.isCancelled { return .failure(LinkError(.cancelled, name: name, activity: "receive")) }
                    state.reader = continuation
                    state.readerID = id
                    return nil
                }
                if let result { continuation.resume(returning: result) }
            }
        } onCancel: {
            let reader = state.withLock { state in
                guard state.readerID == id else { return Optional<ReadContinuation>.none }
                defer { state.reader = nil }
                return state.reader
            }
            reader?.resume(returning: .failure(LinkError(.cancelled, name: name, activity: "receive")))
        }.get()
    }

    public func receiveAvailable() async throws(LinkError) -> [UInt8] {
        if state.withLock({ $0.holdsFirstRead }) {
            await withUnsafeContinuation { continuation in
                let observer = state.withLock { state in
                    state.holdsFirstRead = false
                    state.firstRead = continuation
                    defer { state.firstReadObserver = nil }
                    return state.firstReadObserver
                }
                observer?.resume()
            }
        }
        return try state.withLock { state -> Result<[UInt8], LinkError> in
            if !state.arrived.isEmpty { return .success(state.arrived.removeFirst()) }
            if case .ended(let error?) = state.end { return .failure(error) }
            return .success([])
        }.get()
    }

    public func forward(to receiver: @escaping @Sendable (LinkArrival) -> Void) async {
        let (arrived, end) = state.withLock { state in
            if case .open = state.end { state.receiver = receiver }
            defer { state.arrived = [] }
            return (state.arrived, state.end)
        }
        for bytes in arrived { receiver(.bytes(bytes)) }
        if case .ended(let error) = end { receiver(.ended(error)) }
    }

    public func close() async {
        state.withLock { $0.closeCount += 1 }
        untilClose.continuation.finish()
        await end(with: nil)
        // A link that was lost before counts as closed from now on.
        state.withLock { $0.end = .ended(nil) }
        releaseFirstRead()
        let failure = LinkError(.closed, name: name, activity: "send")
        for send in takeHeld(andHoldOn: true) { send.continuation.resume(returning: failure) }
    }

    // MARK: Implementation

    /// Runs `body` on the loop's thread, and returns after it.
    func onLoop(_ body: @escaping @Sendable () -> Void) async {
        if loop.isCurrent { return body() }
        await withUnsafeContinuation { continuation in
            loop.execute {
                body()
                continuation.resume()
            }
        }
    }

    /// Delivers an arrival to the receiver or the waiting ``receive()``; keeps bytes if there is neither. Does nothing
    /// after the link's end. Call this on the loop's thread.
    func arrive(_ arrival: LinkArrival) {
        precondition(loop.isCurrent, "a link's receiver is called on the link's executor")
        let (receiver, reader) = state.withLock { state in
            guard case .open = state.end else { return (Optional<@Sendable (LinkArrival) -> Void>.none, state.reader) }
            let receiver = state.receiver
            let reader = state.reader
            state.reader = nil
            switch arrival {
            case .bytes(let bytes): if receiver == nil, reader == nil { state.arrived.append(bytes) }
            case .ended(let error):
                state.end = .ended(error)
                state.receiver = nil
            }
            return (receiver, reader)
        }
        receiver?(arrival)
        switch arrival {
        case .bytes(let bytes): reader?.resume(returning: .success(bytes))
        case .ended(let error): reader?.resume(returning: error.map { .failure($0) } ?? .success(nil))
        }
    }

    /// Waits until held sends are released. Returns the error for `send` to throw; nil after ``releaseSends()``.
    private func holdSend() async -> LinkError? {
        let id = state.withLock { state in
            state.lastID += 1
            return state.lastID
        }
        return await withTaskCancellationHandler {
            await withUnsafeContinuation { continuation in
                // nil if the call has to wait; otherwise the result of this function.
                let result: LinkError?? = state.withLock { state in
                    if Task.isCancelled { return .some(LinkError(.cancelled, name: name, activity: "send")) }
                    guard state.holdsSends else { return .some(nil) }
                    if case .ended(let error) = state.end {
                        return .some(error ?? LinkError(.closed, name: name, activity: "send"))
                    }
                    state.held.append(HeldSend(id: id, continuation: continuation))
                    return nil
                }
                if let result { continuation.resume(returning: result) }
            }
        } onCancel: {
            let send = state.withLock { state in
                state.held.firstIndex { $0.id == id }.map { state.held.remove(at: $0) }
            }
            send?.continuation.resume(returning: LinkError(.cancelled, name: name, activity: "send"))
        }
    }

    /// Removes and returns the waiting calls of `send`, for the caller to resume.
    ///
    /// - Parameter holdsSends: If false, later calls do not wait any more. If true, they wait or not as before.
    func takeHeld(andHoldOn holdsSends: Bool) -> [HeldSend] {
        state.withLock { state in
            state.holdsSends = state.holdsSends && holdsSends
            defer { state.held = [] }
            return state.held
        }
    }
}
