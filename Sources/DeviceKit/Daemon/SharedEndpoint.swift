internal import DescriptorIO
internal import LineProtocol
internal import Transports

/// Opens links from `shared:NAME`, where `NAME` is the device's name in a daemon.
enum SharedEndpoint {
    static let scheme = "shared"

    /// Returns the opener for links from `shared:NAME`.
    ///
    /// - Parameters:
    ///   - family: The required family of the device; nil for any.
    ///   - limit: The longest wait for the daemon to open the device; nil for ``DaemonAttachment/openingPatience``.
    ///   - sockets: Returns the sockets at which daemons may listen.
    static func opener(
        for family: Family? = nil, within limit: Duration? = nil,
        at sockets: @escaping DaemonSocket.Search = { DaemonSocket.present }
    ) -> LinkSchemes.Opener {
        { endpoint, loop throws(LinkError) in
            try endpoint.allowOptions([])
            let attachment = DaemonAttachment(
                target: .name(endpoint.address), linkName: endpoint.text,
                patience: limit ?? DaemonAttachment.openingPatience, loop: loop)
            var sockets = sockets()
            if sockets.count > 1 {
                let found = await Daemons.devices(named: endpoint.address, at: sockets, on: loop)
                if Set(found.map(\.device.endpoint)).count > 1 {
                    throw LinkError(ambiguous: endpoint, found.map(\.device))
                }
                // If several daemons are configured for the same device, only one can have the device open. Ask that
                // one, or the first if none has the device open.
                if let owner = found.first(where: \.device.isUp) ?? found.first { sockets = [owner.socket] }
            }
            let link: DaemonLink
            do throws(DaemonError) { link = try await attachment.link(at: sockets) } catch {
                throw await LinkError(error, opening: endpoint, at: sockets, on: loop)
            }
            try await link.check(family)
            return link
        }
    }
}

extension LinkSchemes {
    /// ``LinkSchemes/standard`` with `shared:` added.
    static let standardAndShared: LinkSchemes = {
        var schemes = LinkSchemes.standard
        schemes.add(SharedEndpoint.scheme, SharedEndpoint.opener())
        return schemes
    }()
}

extension DaemonLink {
    /// Closes the link if the device is of another family than `wanted`. If `wanted` is nil or ``Family/raw``, or if
    /// the daemon sent no family, every device is accepted.
    ///
    /// - Throws: `wrongFamily`.
    func check(_ wanted: Family?) async throws(LinkError) {
        guard let wanted, wanted != .raw, let family, family != wanted.name else { return }
        await close()
        let device = Family.all.first { $0.name == family }?.device ?? "an unknown device"
        throw LinkError(
            .wrongFamily, name: name, activity: "open", detail: "\(device) (family \(family))",
            remedy: .useAs(family: family))
    }
}
