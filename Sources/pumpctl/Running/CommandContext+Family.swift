import DeviceKit
import LineProtocol
import Transports

/// Support for commands that test or measure a device by the protocol of its family.
extension CommandContext {
    /// Returns the endpoint that the options name. If neither the options nor the endpoint determine the family, prints
    /// a note with the assumed family.
    ///
    /// - Parameter families: The names of the families that the command supports.
    /// - Throws: The errors of ``endpoint()``; `Failure` if the endpoint names a simulated device of no family.
    func endpoint(ofOneOf families: [String]) throws -> Endpoint {
        let endpoint = try endpoint()
        if endpoint.scheme == "sim", Family.named(by: endpoint.text) == nil,
            SimCommand.simulator(of: endpoint.address) != nil
        {
            let devices = families.map { "sim:\($0)" }.joined(separator: ", ")
            throw Failure(
                .usage, code: "wrong_family", "sim:\(endpoint.address) belongs to no family",
                hint: "name a device: \(devices)", outcome: "not_sent")
        }
        if options.toldFamily == nil {
            let others = families.filter { $0 != family.name }.map { "--family \($0)" }
            output.note(
                "pumpctl: \((place?.name ?? endpoint.text).printable()): no --family is given; assuming a \(family)",
                hint: "name the family of another device: \(others.joined(separator: ", "))")
        }
        return endpoint
    }
}
