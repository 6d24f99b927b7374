import DescriptorIO
import DeviceTestKit
import Glibc
import LineProtocol
import TestSupport
import Testing
@testable import Transports

extension Link {
    /// Receives `count` bytes in any number of parts.
    func receive(_ count: Int) async throws -> [UInt8] {
        var received: [UInt8] = []
        while received.count < count { received += try #require(try await receive()) }
        return received
    }

    func send(_ text: String) async throws(LinkError) { try await send(Array(text.utf8)) }

    /// Runs everything that is ready on the link's executor, if that is an event loop.
    func settle() async {
        if let loop = executor as? EventLoop { await DeviceTestKit.settle(loop) }
    }

    /// Starts a task on the link's executor.
    func start<Value: Sendable>(_ body: @escaping @Sendable () async throws(LinkError) -> Value) -> Task<
        Result<Value, LinkError>, Never
    > {
        Task(executorPreference: executor) {
            do throws(LinkError) { return .success(try await body()) } catch { return .failure(error) }
        }
    }

    /// The number of the link's descriptor.
    func descriptor() async throws -> CInt {
        let channel = try #require(self as? DescriptorLink).channel
        return try await channel.withDescriptor { $0 }
    }
}

extension Task where Failure == Never {
    /// The task's result. The task is cancelled together with the waiting test, so that a test's time limit ends both.
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

extension Result where Failure == LinkError {
    /// The error's code; nil on success.
    var code: LinkError.Code? { if case .failure(let error) = self { error.code } else { nil } }
}

/// The code of the error that a call throws; nil if it throws none.
func code<Value>(of call: () async throws(LinkError) -> Value) async -> LinkError.Code? {
    do throws(LinkError) {
        _ = try await call()
        return nil
    } catch {
        return error.code
    }
}

/// The target of a descriptor of this process, such as `socket:[4711]`; nil if it is closed.
func target(of descriptor: CInt) -> String? {
    withUnsafeTemporaryAllocation(of: CChar.self, capacity: 256) { buffer in
        let count = readlink("/proc/self/fd/\(descriptor)", buffer.baseAddress!, 255)
        guard count > 0 else { return nil }
        buffer[count] = 0
        return String(cString: buffer.baseAddress!)
    }
}
