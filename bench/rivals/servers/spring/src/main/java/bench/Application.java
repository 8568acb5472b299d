package bench;

import java.time.Duration;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.context.annotation.Bean;
import org.springframework.core.annotation.Order;
import org.springframework.http.MediaType;
import org.springframework.jdbc.core.JdbcOperations;
import org.springframework.security.config.Customizer;
import org.springframework.security.config.annotation.web.builders.HttpSecurity;
import org.springframework.security.core.userdetails.User;
import org.springframework.security.core.userdetails.UserDetailsService;
import org.springframework.security.crypto.factory.PasswordEncoderFactories;
import org.springframework.security.crypto.password.PasswordEncoder;
import org.springframework.security.oauth2.core.AuthorizationGrantType;
import org.springframework.security.oauth2.core.ClientAuthenticationMethod;
import org.springframework.security.oauth2.server.authorization.JdbcOAuth2AuthorizationConsentService;
import org.springframework.security.oauth2.server.authorization.JdbcOAuth2AuthorizationService;
import org.springframework.security.oauth2.server.authorization.OAuth2AuthorizationConsent;
import org.springframework.security.oauth2.server.authorization.OAuth2AuthorizationConsentService;
import org.springframework.security.oauth2.server.authorization.OAuth2AuthorizationService;
import org.springframework.security.oauth2.server.authorization.client.InMemoryRegisteredClientRepository;
import org.springframework.security.oauth2.server.authorization.client.RegisteredClient;
import org.springframework.security.oauth2.server.authorization.client.RegisteredClientRepository;
import org.springframework.security.oauth2.server.authorization.settings.ClientSettings;
import org.springframework.security.oauth2.server.authorization.settings.OAuth2TokenFormat;
import org.springframework.security.oauth2.server.authorization.settings.TokenSettings;
import org.springframework.security.provisioning.InMemoryUserDetailsManager;
import org.springframework.security.web.SecurityFilterChain;
import org.springframework.security.web.authentication.LoginUrlAuthenticationEntryPoint;
import org.springframework.security.web.util.matcher.MediaTypeRequestMatcher;

/**
 * Spring Authorization Server as set up in its guides "getting started" and "implement core services with JPA", but with
 * its own JDBC services: opaque tokens, authorizations and consents in PostgreSQL.
 */
@SpringBootApplication
public class Application {
    public static void main(String[] args) {
        SpringApplication.run(Application.class, args);
    }

    @Bean
    @Order(1)
    SecurityFilterChain authorizationServer(HttpSecurity http) throws Exception {
        http.oauth2AuthorizationServer(server -> http.securityMatcher(server.getEndpointsMatcher()))
            .authorizeHttpRequests(requests -> requests.anyRequest().authenticated())
            .exceptionHandling(exceptions -> exceptions.defaultAuthenticationEntryPointFor(
                new LoginUrlAuthenticationEntryPoint("/login"), new MediaTypeRequestMatcher(MediaType.TEXT_HTML)));
        return http.build();
    }

    @Bean
    @Order(2)
    SecurityFilterChain rest(HttpSecurity http) throws Exception {
        http.authorizeHttpRequests(requests -> requests
                .requestMatchers("/actuator/**").permitAll()
                .anyRequest().authenticated())
            .formLogin(Customizer.withDefaults());
        return http.build();
    }

    /** Matches {bcrypt} and {noop} alike and re-encodes neither, so that a secret stays unchanged. */
    @Bean
    PasswordEncoder passwordEncoder() {
        PasswordEncoder all = PasswordEncoderFactories.createDelegatingPasswordEncoder();
        return new PasswordEncoder() {
            @Override
            public String encode(CharSequence raw) {
                return all.encode(raw);
            }

            @Override
            public boolean matches(CharSequence raw, String encoded) {
                return all.matches(raw, encoded);
            }

            @Override
            public boolean upgradeEncoding(String encoded) {
                return false;
            }
        };
    }

    @Bean
    UserDetailsService users(@Value("${users.count}") int count, @Value("${users.password}") String password) {
        InMemoryUserDetailsManager users = new InMemoryUserDetailsManager();
        for (int n = 1; n <= count; n++) {
            users.createUser(User.withUsername("user-" + n).password("{noop}" + password).roles("USER").build());
        }
        return users;
    }

    /**
     * In memory, as in the getting-started guide. With JdbcRegisteredClientRepository each search of an authorization
     * takes a second connection while it holds the first, and as many simultaneous requests as the pool has connections
     * stall until Hikari gives up after 30 s.
     */
    @Bean
    RegisteredClientRepository clients(
            @Value("${shop.secret}") String secret,
            @Value("${shop.shipped}") boolean shipped,
            @Value("${shop.redirect-uri}") String redirectUri,
            PasswordEncoder encoder) {
        RegisteredClient shop = RegisteredClient.withId("shop")
            .clientId("shop")
            .clientSecret(shipped ? encoder.encode(secret) : "{noop}" + secret)
            .clientName("Shop")
            .clientAuthenticationMethod(ClientAuthenticationMethod.CLIENT_SECRET_POST)
            .authorizationGrantType(AuthorizationGrantType.AUTHORIZATION_CODE)
            .redirectUri(redirectUri)
            .scope("account-info")
            .scope("operation-history")
            .clientSettings(ClientSettings.builder().requireAuthorizationConsent(true).requireProofKey(false).build())
            .tokenSettings(TokenSettings.builder()
                .accessTokenFormat(OAuth2TokenFormat.REFERENCE)
                .authorizationCodeTimeToLive(Duration.ofMinutes(10))
                .accessTokenTimeToLive(Duration.ofDays(3 * 365))
                .build())
            .build();
        return new InMemoryRegisteredClientRepository(shop);
    }

    @Bean
    OAuth2AuthorizationService authorizations(JdbcOperations jdbc, RegisteredClientRepository clients) {
        return new JdbcOAuth2AuthorizationService(jdbc, clients);
    }

    /** Written as always, but never found: consent is requested each time, as in Assent. */
    @Bean
    OAuth2AuthorizationConsentService consents(JdbcOperations jdbc, RegisteredClientRepository clients) {
        JdbcOAuth2AuthorizationConsentService stored = new JdbcOAuth2AuthorizationConsentService(jdbc, clients);
        return new OAuth2AuthorizationConsentService() {
            @Override
            public void save(OAuth2AuthorizationConsent consent) {
                stored.save(consent);
            }

            @Override
            public void remove(OAuth2AuthorizationConsent consent) {
                stored.remove(consent);
            }

            @Override
            public OAuth2AuthorizationConsent findById(String client, String principal) {
                return null;
            }
        };
    }
}
