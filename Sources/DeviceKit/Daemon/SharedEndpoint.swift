internal import DescriptorIO
internal import LineProtocol
internal import Transports

/// Opens links from `shared:NAME`: a device that a daemon has, by its name there.
enum SharedEndpoint {
    static let scheme = "shared"

    /// What opens such links.
    ///
    /// - Parameters:
    ///   - family: What the device must be; nil for anything.
    ///   - limit: How long the daemon may take to open the device.
    ///   - sockets: Where daemons may listen.
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
                // Of several that are to have the same device, only one does: the others wait for it.
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
    /// ``LinkSchemes/standard`` and `shared:`.
    static let standardAndShared: LinkSchemes = {
        var schemes = LinkSchemes.standard
        schemes.add(SharedEndpoint.scheme, SharedEndpoint.opener())
        return schemes
    }()
}

extension DaemonLink {
    /// Closes the link where the device is of another family than `wanted`.
    ///
    /// - Throws: `wrongFamily`.
    func check(_ wanted: Family?) async throws(LinkError) {
        guard let wanted, wanted != .raw, let family, family != wanted.name else { return }
        await close()
        let device = Family.all.first { $0.name == family }?.device ?? "another device"
        throw LinkError(
            .wrongFamily, name: name, activity: "open", detail: "it is \(device) (family \(family))",
            remedy: .useAs(family: family))
    }
}
