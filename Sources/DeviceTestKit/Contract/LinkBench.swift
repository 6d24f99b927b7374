internal import DescriptorIO
internal import LineProtocol

/// A link with its far end, for one check of the contract.
struct LinkBench: Sendable {
    let link: any Link
    let far: any FarEnd
    let abilities: LinkContract.Abilities
    let clock: any Clock<Duration>

    /// A deviation from the contract.
    struct Deviation: Error, CustomStringConvertible { var description: String }

    /// Starts a task on the link's executor. The link works there too, so tasks call it in the order of their start.
    func start<Value: Sendable>(
        _ body: @escaping @Sendable () async throws(LinkError) -> Value
    ) -> Task<Result<Value, LinkError>, Never> {
        Task(executorPreference: link.executor) {
            do throws(LinkError) { return .success(try await body()) } catch { return .failure(error) }
        }
    }

    /// Starts to send `bytes`.
    func startSending(_ bytes: [UInt8]) -> Task<Result<Void, LinkError>, Never> {
        start { () throws(LinkError) in try await link.send(bytes) }
    }

    /// Starts to receive.
    func startReceiving() -> Task<Result<[UInt8]?, LinkError>, Never> {
        start { () throws(LinkError) in try await link.receive() }
    }

    /// Waits until the link's executor has run everything that is ready: see ``DeviceTestKit/settle(_:rounds:)``.
    func settle() async {
        if let loop = link.executor as? EventLoop { return await DeviceTestKit.settle(loop) }
        // Ten rounds, as on an event loop: each can run what the round before has caused.
        for _ in 0..<10 { await Task(executorPreference: link.executor) {}.value }
    }

    /// Receives `count` bytes in any number of parts.
    func receive(_ count: Int) async throws -> [UInt8] {
        var received: [UInt8] = []
        while received.count < count {
            guard let bytes = try await link.receive() else { throw Deviation(description: "the link was closed") }
            received += bytes
        }
        return received
    }

    func send(_ text: String) async throws { try await link.send(Array(text.utf8)) }

    // MARK: Expectations

    func expect(_ holds: Bool, _ deviation: @autoclosure () -> String) throws {
        if !holds { throw Deviation(description: deviation()) }
    }

    /// Expects that bytes are the same, and reports the first difference.
    func expect(_ name: String, _ bytes: [UInt8]?, are expected: [UInt8]) throws {
        guard bytes != expected else { return }
        guard let bytes else { throw Deviation(description: "\(name): the link was closed") }
        let same = zip(bytes, expected).prefix { $0.0 == $0.1 }.count
        throw Deviation(
            description: "\(name): \(bytes.count) bytes, expected \(expected.count); the first \(same) are right")
    }

    /// Expects that a call failed with this code; nil for success.
    func expect<Value>(
        _ name: String, _ result: Result<Value, LinkError>, endsWith code: LinkError.Code?
    ) throws {
        var found: LinkError.Code?
        if case .failure(let error) = result { found = error.code }
        guard found != code else { return }
        let words = [found, code].map { $0.map { "error \($0.rawValue)" } ?? "no error" }
        throw Deviation(description: "\(name): \(words[0]), expected \(words[1])")
    }

    /// Expects that a call fails with this code.
    func expect<Value>(
        _ name: String, failsWith code: LinkError.Code, _ call: () async throws(LinkError) -> Value
    ) async throws {
        let result: Result<Value, LinkError>
        do throws(LinkError) { result = .success(try await call()) } catch { result = .failure(error) }
        try expect(name, result, endsWith: code)
    }

    /// Expects that `link.receive()` returns nil.
    func expectClosed() async throws {
        try expect(try await link.receive() == nil, "receive() of a closed link returned bytes")
    }
}

extension Task where Failure == Never {
    /// The task's result. If the waiting check is cancelled, as at its time limit, the task is cancelled too.
    var outcome: Success {
        get async {
            await withTaskCancellationHandler {
                await value
            } onCancel: {
                cancel()
            }
        }
    }
}

/// Bytes that look random and are the same each time (the linear congruential generator of MMIX).
package func payload(_ count: Int, seed: UInt64 = 1) -> [UInt8] {
    var state = seed
    return (0..<count).map { _ in
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return UInt8(truncatingIfNeeded: state >> 56)
    }
}
