internal import DescriptorIO
public import LineProtocol
public import SerialPort

extension USBEndpoint {
    /// Opens the port of `usb:…`, which takes the options of `serial:`.
    static func open(_ endpoint: Endpoint, on loop: EventLoop) async throws(LinkError) -> any Link {
        let port = try USBEndpoint(endpoint).resolve(endpoint, among: ports(for: endpoint))
        return try await SerialLink.open(port.path, endpoint, on: loop)
    }

    /// Finds the port that the endpoint names.
    ///
    /// - Parameters:
    ///   - endpoint: The endpoint that errors name.
    ///   - ports: The ports of this computer.
    /// - Returns: The only port that matches.
    /// - Throws: `notFound`; `ambiguous` if several ports match, with their endpoints in the detail.
    public func resolve(_ endpoint: Endpoint, among ports: [SerialPortInfo]) throws(LinkError) -> SerialPortInfo {
        let matching = ports.filter(matches)
        if matching.count == 1 { return matching[0] }
        let all = ports.filter { $0.usb != nil }
        guard let first = matching.first else {
            let others = all.map { Self.line($0, among: all) }.joined(separator: ", ")
            throw LinkError(
                .notFound, name: endpoint.text, activity: "find",
                hint: all.isEmpty
                    ? "plug the device in" : "name one that is plugged in: \(others)")
        }
        throw LinkError(
            .ambiguous, name: endpoint.text, activity: "find",
            detail: matching.map { Self.line($0, among: all) }.joined(separator: ", "),
            hint: "name one: \(Self.name(first, among: all))")
    }

    private static func ports(for endpoint: Endpoint) throws(LinkError) -> [SerialPortInfo] {
        do { return try SerialPortDiscovery.ports() } catch { throw LinkError(error, name: endpoint.text) }
    }

    private static func name(_ port: SerialPortInfo, among ports: [SerialPortInfo]) -> String {
        naming(port, among: ports)?.description ?? port.path
    }

    private static func line(_ port: SerialPortInfo, among ports: [SerialPortInfo]) -> String {
        guard let endpoint = naming(port, among: ports) else { return port.path }
        return "\(endpoint) (\(port.path))"
    }
}
