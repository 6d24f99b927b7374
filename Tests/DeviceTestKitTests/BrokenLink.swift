import DeviceTestKit
import LineProtocol

/// A link with one fault, around a link without faults.
final class BrokenLink: Link {
    /// The fault of a link, which passes everything else on unchanged.
    ///
    /// ``losesReceivedByte`` and ``losesSentByte`` lose the last byte of chunks of more than 4 bytes. ``corruptsByte``
    /// sends 0x81 for 0x80. ``splitsEmptySend`` sends a zero byte instead of no bytes. The last three concern
    /// `sendAtOnce`: it claims success and sends nothing, sends and claims that the bytes were refused, or claims success
    /// after the link was closed.
    enum Fault {
        case losesReceivedByte, losesSentByte, corruptsByte, splitsEmptySend
        case deliversNoEnd, deliversEndTwice, deliversAfterEnd
        case reportsCloseAsLoss, reportsLossAsClose, sendsAfterClose, waitsForeverAfterClose
        case ignoresCancellation, losesByteOfCancelledReceive, neverHasAvailableBytes
        case dropsAtOnce, sendsRefusedAtOnce, takesAtOnceAfterClose
    }

    let link: any Link
    let fault: Fault

    init(_ link: any Link, _ fault: Fault) {
        self.link = link
        self.fault = fault
    }

    var name: String { link.name }
    var keepsPacketBounds: Bool { link.keepsPacketBounds }
    var maximumWriteLength: Int? { link.maximumWriteLength }
    var executor: any SerialExecutor & TaskExecutor { link.executor }

    func send(_ bytes: [UInt8]) async throws(LinkError) {
        switch fault {
        case .losesSentByte where bytes.count > 4: try await link.send(Array(bytes.dropLast()))
        case .corruptsByte: try await link.send(bytes.map { $0 == 0x80 ? 0x81 : $0 })
        case .splitsEmptySend where bytes.isEmpty: try await link.send([0])
        case .sendsAfterClose:
            do throws(LinkError) { try await link.send(bytes) } catch { if error.code != .closed { throw error } }
        default: try await link.send(bytes)
        }
    }

    func sendAtOnce(_ bytes: [UInt8]) throws(LinkError) -> Bool {
        switch fault {
        case .dropsAtOnce: return true
        case .sendsRefusedAtOnce:
            _ = try link.sendAtOnce(bytes)
            return false
        case .takesAtOnceAfterClose:
            do throws(LinkError) { return try link.sendAtOnce(bytes) } catch { return true }
        default: return try link.sendAtOnce(bytes)
        }
    }

    func receive() async throws(LinkError) -> [UInt8]? {
        switch fault {
        case .losesReceivedByte: return try await link.receive().map { $0.count > 4 ? Array($0.dropLast()) : $0 }
        case .ignoresCancellation:
            // A task of its own is not cancelled together with the caller's.
            return try await Task(executorPreference: link.executor) { [link] () -> Result<[UInt8]?, LinkError> in
                do throws(LinkError) { return .success(try await link.receive()) } catch { return .failure(error) }
            }.value.get()
        case .losesByteOfCancelledReceive:
            let bytes = try await link.receive()
            if Task.isCancelled { throw LinkError(.cancelled, name: name, activity: "receive") }
            return bytes
        case .reportsLossAsClose:
            do throws(LinkError) { return try await link.receive() } catch {
                if error.code == .disconnected { return nil }
                throw error
            }
        case .reportsCloseAsLoss:
            guard let bytes = try await link.receive() else {
                throw LinkError(.disconnected, name: name, activity: "receive")
            }
            return bytes
        case .waitsForeverAfterClose:
            guard let bytes = try await link.receive() else {
                await withUnsafeContinuation { (_: UnsafeContinuation<Void, Never>) in }
                return nil
            }
            return bytes
        default: return try await link.receive()
        }
    }

    func receiveAvailable() async throws(LinkError) -> [UInt8] {
        let bytes = try await link.receiveAvailable()
        return fault == .neverHasAvailableBytes ? [] : bytes
    }

    func forward(to receiver: @escaping @Sendable (LinkArrival) -> Void) async {
        let fault = fault
        await link.forward { arrival in
            guard case .ended = arrival else { return receiver(arrival) }
            if fault != .deliversNoEnd { receiver(arrival) }
            if fault == .deliversEndTwice { receiver(arrival) }
            if fault == .deliversAfterEnd { receiver(.bytes([0])) }
        }
    }

    func close() async { await link.close() }
}
