internal import DescriptorIO
internal import LineProtocol
internal import Synchronization
internal import Transports

/// A link to a device that a daemon owns. The daemon forwards the lines in both directions.
final class DaemonLink: LinkWrapper {
    let link: any Link
    let sharedAddress: SharedDeviceAddress?
    /// The name of the device's family; nil if the daemon did not send it.
    let family: String?
    /// The bytes that arrived right after the daemon's response, until they are read.
    private let early: Mutex<[UInt8]>

    /// Takes over a channel on which a daemon has accepted the request.
    ///
    /// - Parameters:
    ///   - name: The name of the link.
    ///   - early: The bytes that arrived right after the daemon's response.
    init(_ channel: DescriptorChannel, name: String, _ address: SharedDeviceAddress, family: String?, early: [UInt8]) {
        link = DescriptorLink(channel, name: name)
        sharedAddress = address
        self.family = family
        self.early = Mutex(early)
    }

    private func takeEarly() -> [UInt8]? {
        early.withLock { early in
            defer { early = [] }
            return early.isEmpty ? nil : early
        }
    }

    /// Adds the possible causes to a disconnection: pumpctld closes the link if the device is lost or pumpctld ends,
    /// and the kernel closes the link if pumpctld is killed.
    private static func explained(_ error: LinkError) -> LinkError {
        guard error.code == .disconnected else { return error }
        var error = error
        error.detail = "pumpctld closed the connection: the device is gone, or pumpctld has ended"
        return error
    }

    func send(_ bytes: [UInt8]) async throws(LinkError) {
        do { try await link.send(bytes) } catch { throw Self.explained(error) }
    }

    func sendAtOnce(_ bytes: [UInt8]) throws(LinkError) -> Bool {
        do { return try link.sendAtOnce(bytes) } catch { throw Self.explained(error) }
    }

    func receive() async throws(LinkError) -> [UInt8]? {
        if let early = takeEarly() { return early }
        do { return try await link.receive() } catch { throw Self.explained(error) }
    }

    func receiveAvailable() async throws(LinkError) -> [UInt8] {
        if let early = takeEarly() { return early }
        do { return try await link.receiveAvailable() } catch { throw Self.explained(error) }
    }

    func forward(to receiver: @escaping @Sendable (LinkArrival) -> Void) async {
        if let early = takeEarly() {
            await Task(executorPreference: executor) { receiver(.bytes(early)) }.value
        }
        await link.forward { arrival in
            guard case .ended(let error?) = arrival else { return receiver(arrival) }
            receiver(.ended(Self.explained(error)))
        }
    }
}
